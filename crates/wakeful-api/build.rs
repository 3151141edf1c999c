//! The files in `web/dist` change their names with every build of the web app; this
//! crate is then rebuilt. `scripts/with-web-app` builds both at the same time: it holds a lock until
//! the web app is built.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=../../web/dist");
    if let Some(lock) = std::env::var_os("WAKEFUL_WEB_LOCK") {
        match result_of_web_app(Path::new(&lock)) {
            Ok(result) if result == "built\n" => {}
            Ok(_) => panic!("the web app could not be built"),
            Err(error) => panic!("waiting for the web app failed: {error}"),
        }
    }
}

/// Waits for the lock, and reads what its holder has written; empty if it failed.
fn result_of_web_app(lock: &Path) -> io::Result<String> {
    let mut file = File::open(lock)?;
    file.lock_shared()?;
    let mut result = String::new();
    file.read_to_string(&mut result)?;
    Ok(result)
}
