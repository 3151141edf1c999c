//! Files come and go in `web/dist` under new names; the crate is built again
//! when they do.

fn main() {
    println!("cargo:rerun-if-changed=../../web/dist");
}
