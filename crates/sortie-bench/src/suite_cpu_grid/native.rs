//! The C++ peers, in a shared library that is built separately from `peers/cpu.cpp`.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;

use libloading::Library;

use super::key::{GridKey, Sort};
use crate::Result;

/// How to get the library.
pub const BUILD: &str = "build it with `g++ -O3 -std=c++17 -march=haswell -mcx16 -pthread -shared -fPIC -o \
                         cpu-peers.so crates/sortie-bench/peers/cpu.cpp -lhwy_contrib -lhwy -ltbb -latomic` and give \
                         it with --peers ./cpu-peers.so";

type RawSort = unsafe extern "C" fn(*mut c_void, usize, c_int);
type Find = unsafe extern "C" fn(*const c_char, *const c_char) -> Option<RawSort>;

#[derive(Debug)]
pub struct Native {
    find: Find,
    _library: Library,
}

impl Native {
    pub fn load(path: &Path) -> Result<Native> {
        let cannot = |e| format!("cannot load the peers in {}: {e}; {BUILD}", path.display());
        // SAFETY: the user names a library built from `cpu.cpp`, whose function has this type.
        unsafe {
            let library = Library::new(path).map_err(cannot)?;
            let find = *library.get::<Find>(b"sortie_peer_sort").map_err(cannot)?;
            Ok(Native { find, _library: library })
        }
    }

    /// The sorts of keys of this type, on `threads` threads.
    pub fn sorts<'a, K: GridKey>(&'a self, threads: usize) -> Vec<(&'static str, Sort<'a, K>)> {
        let names = if threads == 1 { &["vqsort", "IPS4o"][..] } else { &["IPS4o"] };
        let find = |name: &&'static str| {
            let [peer, key] =
                [*name, K::NAME].map(|text| CString::new(text).expect("there is no zero in it"));
            // SAFETY: both strings end with a NUL.
            let sort = unsafe { (self.find)(peer.as_ptr(), key.as_ptr()) }?;
            let threads = threads as c_int;
            // SAFETY: the function sorts this number of keys of this type, and the library stays loaded while it is
            // borrowed.
            let call = move |keys: &mut [K]| unsafe { sort(keys.as_mut_ptr().cast(), keys.len(), threads) };
            Some((*name, Box::new(call) as Sort<'a, K>))
        };
        names.iter().filter_map(find).collect()
    }
}
