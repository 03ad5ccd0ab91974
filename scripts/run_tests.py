"""Builds the tests of the workspace and runs their programs, as many at a time as there are processors.

    run_tests.py [ARGUMENT...]     arguments for each program, such as --include-ignored

`cargo test` runs one program after the other, and each ends with a test that runs alone: a third of the time one of two processors has
nothing to do. Each program gets one thread here, and its output appears when it has ended. The documentation's tests, which cargo runs, are one
of them. A table of the programs that took most processor time, with the programs that they started, follows.
Exits with 1 when a test fails, with 101 when something does not build.
"""
import json, os, subprocess, sys, tempfile, threading
from queue import Empty, SimpleQueue

# Programs that take longest, by the name of their source without its ending, then packages of such: they begin first, so that none of them
# is left at the end.
FIRST = ["machine", "gpurf_stimulus", "cli_regress", "twins", "simulators", "cli_designs", "cli", "regress", "stimulus"]


def build():
    """The programs: their packages' folders, their names, the commands that run them."""
    command = ["cargo", "test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"]
    programs = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as cargo:
        for line in cargo.stdout:
            message = json.loads(line)
            if message.get("reason") == "compiler-artifact" and message["profile"]["test"] and message.get("executable"):
                folder = os.path.dirname(message["manifest_path"])
                programs.append((folder, message["target"]["name"], [message["executable"]]))
    if cargo.returncode:
        sys.exit(cargo.returncode)
    order = {name: number for number, name in enumerate(FIRST)}

    def place(program):
        folder, name, _ = program
        return order.get(name, order.get(os.path.basename(folder), len(FIRST)))

    documentation = (os.getcwd(), "documentation", ["cargo", "test", "--workspace", "--doc", "--"])
    return [*sorted(programs, key=place), documentation]


def main():
    arguments = sys.argv[1:]
    work, lock, failed, took = SimpleQueue(), threading.Lock(), [], []
    for program in build():
        work.put(program)
    # The tests of procedural macros load the compiler's libraries, as those that cargo starts do.
    printed = subprocess.run(["rustc", "--print", "target-libdir"], stdout=subprocess.PIPE, text=True, check=True).stdout
    libraries = ":".join(filter(None, [printed.strip(), os.environ.get("LD_LIBRARY_PATH")]))

    def worker():
        while True:
            try:
                folder, name, command = work.get_nowait()
            except Empty:
                return
            # As cargo starts it: in the folder of its package.
            environment = dict(os.environ, CARGO_MANIFEST_DIR=folder, LD_LIBRARY_PATH=libraries, RUST_TEST_THREADS="1")
            program = f"{os.path.relpath(folder)} {name}"
            with tempfile.TemporaryFile() as output:
                ran = subprocess.Popen([*command, *arguments], cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
                _, status, usage = os.wait4(ran.pid, 0)
                ran.returncode = os.waitstatus_to_exitcode(status)
                output.seek(0)
                with lock:
                    print(f"     Running {program}", flush=True)
                    sys.stdout.buffer.write(output.read())
                    sys.stdout.flush()
                    took.append((usage.ru_utime + usage.ru_stime, program))
                    if ran.returncode:
                        failed.append(program)

    threads = [threading.Thread(target=worker) for _ in range(os.cpu_count() or 1)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(f"processor time of {len(took)} programs: {sum(seconds for seconds, _ in took):.0f} s, of these")
    for seconds, program in sorted(took, reverse=True)[:12]:
        print(f"{seconds:9.0f} s  {program}")
    for name in failed:
        print(f"failed: {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
