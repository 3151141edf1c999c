//! The files in `web/dist` change their names with every build of the web app; this
//! crate is then rebuilt.

fn main() {
    println!("cargo:rerun-if-changed=../../web/dist");
}
