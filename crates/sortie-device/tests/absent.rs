//! Without CUDA's libraries, nothing panics, and the errors say what to install.

use sortie_device::{Error, Program, cuda};

#[test]
fn without_a_driver_every_question_has_an_answer() {
    match cuda::devices() {
        Ok(devices) => println!("skipped: there are {} devices", devices.len()),
        Err(error) => {
            println!("{error}");
            assert!(matches!(error, Error::NoDriver { .. } | Error::NoDevice { .. }));
            assert!(!error.to_string().contains('\n'));
            assert_eq!(cuda::devices().unwrap_err(), error);
            assert_eq!(cuda::device(3).unwrap_err(), error);
            assert_eq!(cuda::driver_version().unwrap_err(), error);
        }
    }
}

#[test]
fn without_a_compiler_the_error_says_how_to_get_it() {
    let program =
        Program { name: "empty".into(), source: "", headers: &[], defines: vec![], overlaps: false };
    match cuda::compiler_version() {
        Ok((major, minor)) => println!("skipped: there is NVRTC {major}.{minor}"),
        Err(error) => {
            println!("{error}");
            assert!(matches!(&error, Error::NoCompiler { reason } if reason.contains("nvidia-cuda-nvrtc")));
            assert_eq!(cuda::compile(&program, (9, 0)).unwrap_err(), error);
            assert_eq!(cuda::ptx(&program, (9, 0)).unwrap_err(), error);
        }
    }
}
