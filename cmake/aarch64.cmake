# Cross-compiles for 64-bit ARM on a Debian machine with the packages of the group `aarch64` (scripts/packages.txt).
# The libraries are Debian's own for arm64, installed beside this machine's (multiarch); qemu runs what is built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
