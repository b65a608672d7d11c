//! `.npy` headers: any bytes are read or refused; what is read is written as it was meant.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sortie_formats::npy::parse_header;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(header) = parse_header(bytes) {
        assert!(header.data_start <= bytes.len());
        let count = header.count();
        assert!(header.shape.contains(&0) || count > 0);
        let again = parse_header(&header.to_bytes()).expect("what is written can be read");
        assert_eq!(
            (again.dtype, again.fortran_order, &again.shape),
            (header.dtype, header.fortran_order, &header.shape)
        );
    }
});
