#!/bin/sh
# Makes src/shared/ui/fonts: IBM Plex with only the characters that the texts of the web app use, as two
# small files for the first screen, and one with the rest of Latin-1. Other characters come from the
# packages' own files. Run it in web/ after an update of the font packages:
#
#   python3 -m venv /tmp/fonts && /tmp/fonts/bin/pip install fonttools==4.68.0 brotli==1.2.1
#   PATH=/tmp/fonts/bin:$PATH scripts/subset-fonts.sh
#
# The ranges are repeated in src/shared/ui/fonts.css.
set -eu

base=U+0020-007E,U+00A0,U+00B0,U+00B7,U+00C4,U+00D6,U+00D7,U+00DC,U+00DF,U+00E4,U+00F6,U+00FC
base=$base,U+2013-2014,U+2018-201A,U+201C-201E,U+2022,U+2026,U+202F,U+2212
rest=U+00A1-00AF,U+00B1-00B6,U+00B8-00C3,U+00C5-00D5,U+00D8-00DB,U+00DD,U+00DE,U+00E0-00E3,U+00E5-00F5,U+00F7-00FB
rest=$rest,U+00FD-00FF,U+0152-0153,U+20AC,U+2122,U+2191,U+2193

sans=node_modules/@fontsource-variable/ibm-plex-sans
mono=node_modules/@fontsource/ibm-plex-mono
out=src/shared/ui/fonts
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# Nothing is lighter than 400.
fonttools varLib.instancer -q "$sans/files/ibm-plex-sans-latin-wght-normal.woff2" wght=400:700 -o "$scratch/sans.ttf"

subset() {
    pyftsubset "$1" "--unicodes=$2" "--output-file=$out/$3" --flavor=woff2 --no-hinting --layout-features=kern,tnum
}

mkdir -p "$out"
subset "$scratch/sans.ttf" "$base" plex-sans.woff2
subset "$scratch/sans.ttf" "$rest" plex-sans-latin-1.woff2
subset "$mono/files/ibm-plex-mono-latin-400-normal.woff2" "$base" plex-mono.woff2
cp "$sans/LICENSE" "$out/LICENSE"
