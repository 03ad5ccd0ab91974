"""Builds the tests of the workspace and runs their programs, as many at a time as there are processors.

    run_tests.py [ARGUMENT...]     arguments for each program, such as --include-ignored

`cargo test` builds all programs and then runs them one after another. The crates depend on each other in a chain, and each program ends with a test
that runs alone, so that for a third of the time one of two processors is idle. Here a program runs as soon as it is built, with one thread (the
longest with one for each processor) and a lower priority than the build. Its output is printed when it has ended. The documentation's tests, which
cargo runs, count as one program. At the end, a table lists the programs that took most processor time, including the processes that they started.
Exits with 1 if a test fails, with cargo's status (101) if the build fails.
"""
import json, os, subprocess, sys, tempfile, threading
from itertools import count
from queue import PriorityQueue

# Programs that take longest, by the name of their source without its extension, or the package's folder. They begin first, so that none of them
# runs alone at the end.
FIRST = ["machine", "gpurf_stimulus", "cli_regress", "twins", "simulators", "cli_designs", "cli", "regress", "stimulus"]


def build(found):
    """Builds all programs and calls `found` as soon as one is built, with its package's folder, its name and its path. Returns cargo's status.

    Cargo builds a package's tests and its own program in any order: tests that run the program wait for it.
    """
    command = ["cargo", "test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"]
    waiting, there = {}, set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as cargo:
        for line in cargo.stdout:
            message = json.loads(line)
            if message.get("reason") != "compiler-artifact" or not message.get("executable"):
                continue
            folder, target = os.path.dirname(message["manifest_path"]), message["target"]
            program = (folder, target["name"], message["executable"])
            if message["profile"]["test"]:
                runs_its_own = "test" in target["kind"] and os.path.exists(f"{folder}/src/main.rs")
                if runs_its_own and folder not in there:
                    waiting.setdefault(folder, []).append(program)
                else:
                    found(*program)
            elif "bin" in target["kind"]:
                there.add(folder)
                for program in waiting.pop(folder, []): found(*program)
    return cargo.returncode


def main():
    arguments = sys.argv[1:]
    # Items are (place in the order, a number that makes items different, program); the program is None if no more follow.
    work, number, workers = PriorityQueue(), count(), os.cpu_count() or 1
    lock, failed, took = threading.Lock(), [], []
    order = {name: place for place, name in enumerate(FIRST)}
    last = len(FIRST)

    def put(folder, name, command):
        place = order.get(name, order.get(os.path.basename(folder), last))
        work.put((place, next(number), (folder, name, command)))

    # Tests of procedural macros load the compiler's libraries; cargo sets the same path.
    printed = subprocess.run(["rustc", "--print", "target-libdir"], stdout=subprocess.PIPE, text=True, check=True).stdout
    libraries = ":".join(filter(None, [printed.strip(), os.environ.get("LD_LIBRARY_PATH")]))

    def worker():
        while (program := work.get()[2]) is not None:
            folder, name, command = program
            # Programs run in the folder of their package, as cargo starts them.
            at_once = workers if name == FIRST[0] else 1
            environment = dict(os.environ, CARGO_MANIFEST_DIR=folder, LD_LIBRARY_PATH=libraries, RUST_TEST_THREADS=str(at_once))
            program = f"{os.path.relpath(folder)} {name}"
            try:
                with tempfile.TemporaryFile() as output:
                    ran = subprocess.Popen(["nice", "-n", "5", *command, *arguments], cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
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
            except Exception as error:
                # A full disk, for instance: the program has not passed, and the others run.
                with lock: failed.append(f"{program}: {error}")

    threads = [threading.Thread(target=worker) for _ in range(workers)]
    for thread in threads: thread.start()
    status = None
    try:
        status = build(lambda folder, name, path: put(folder, name, [path]))
        if status == 0: put(os.getcwd(), "documentation", ["cargo", "test", "--workspace", "--doc", "--"])
    finally:
        # If the build has failed or was interrupted, these items go before the programs in the queue: only running programs finish.
        for _ in threads: work.put((last + 1 if status == 0 else -1, next(number), None))
    for thread in threads: thread.join()
    if status: return status
    print(f"processor time of {len(took)} programs: {sum(seconds for seconds, _ in took):.0f} s, of these")
    for seconds, program in sorted(took, reverse=True)[:12]:
        print(f"{seconds:9.0f} s  {program}")
    for name in failed:
        print(f"failed: {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
