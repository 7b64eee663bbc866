#!/usr/bin/env bash
# weft doctor: one well-formed line a fact, the same facts as JSON, the right conclusions from made-up system files and
# from refused system calls, and an exit status that says whether weft can run.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
command -v python3 >/dev/null || exit 77

# status NAME, value NAME: of that check, in the report that was tried last
status() { sed -nE "s/^  (ok|warn|missing) +$1  .*/\1/p" "$scratch/out"; }
value() { sed -nE "s/^  (ok|warn|missing) +$1 {2,}//p" "$scratch/out"; }
wants() { # STATUS NAME [PATTERN]
    [ "$(status "$2")" = "$1" ] || fail "$2 is '$(status "$2")' instead of '$1'"
    [ -z "${3-}" ] || [[ $(value "$2") =~ $3 ]] || fail "$2 says '$(value "$2")', without '$3'"
}

try 0 "$weft" doctor
err_is_empty
for topic in kernel machine limits debugging weft; do
    out_has "^$topic\$"
done
strange=$(grep -vE '^(  (ok|warn|missing) +[a-z_ ]+  .+| {29}-> .+|[a-z]+|)$' "$scratch/out" | grep -v 'weft runs here\.$' || true)
[ -z "$strange" ] || fail "lines of no known form: $strange"
wants ok futex
wants ok epoll
wants ok runtime 'starts with [1-9][0-9]* workers, guards stacks by (marker|mprotect|canary), polls by [a-z_]+'
wants ok clock '[0-9]+ ns a read'
[ "$(value release)" = "Linux $(uname -r), $(uname -m)" ] || fail "release: $(value release)"
[[ $(value 'page size') = "$(getconf PAGESIZE) bytes"* ]] || fail "page size: $(value 'page size')"
[[ $(value 'open files') = "$(ulimit -n) descriptors"* ]] || fail "open files: $(value 'open files')"
grep -E '^  (ok|warn|missing)' "$scratch/out" | sed -E 's/^  [a-z]+ +([a-z_ ]+)  .*/\1/; s/ *$//' >"$scratch/names"

try 0 "$weft" doctor --json
python3 - "$scratch/out" "$scratch/names" <<'END' || fail "the JSON form is wrong"
import json, sys
report = json.load(open(sys.argv[1], encoding="ascii"))
checks = report["checks"]
assert report["usable"] is True and report["weft"].count(".") == 2
assert [check["name"] for check in checks] == open(sys.argv[2]).read().splitlines(), "not the same checks"
for check in checks:
    assert set(check) == {"topic", "name", "status", "essential", "value", "advice"}, check
    assert check["status"] in ("ok", "warn", "missing") and check["value"], check
assert {check["name"] for check in checks if check["essential"]} == {"futex", "epoll", "runtime"}
END

# A runtime that does not start makes the machine unusable.
try 1 env WEFT_WORKERS=nonsense "$weft" doctor
wants missing runtime 'does not start'
out_has 'weft cannot run here'
try 1 env WEFT_WORKERS=nonsense "$weft" doctor --json
python3 -c 'import json, sys; assert json.load(sys.stdin)["usable"] is False' <"$scratch/out" || fail "JSON says usable"

# Limits of this process.
try 0 bash -c "ulimit -n 64 && exec '$weft' doctor"
wants warn 'open files' '^64 descriptors'
try 0 env CC=no-such-compiler "$weft" doctor
wants missing compiler no-such-compiler

# Made-up systems. write PATH TEXT: a file below the root.
root=$scratch/root
write() { mkdir -p "$(dirname "$root$1")" && printf '%s\n' "$2" >"$root$1"; }
write /proc/meminfo $'MemTotal:       8388608 kB\nMemFree:        1 kB\nMemAvailable:   4194304 kB'
write /proc/sys/vm/overcommit_memory 2
write /proc/sys/vm/max_map_count 1000
write /proc/sys/kernel/yama/ptrace_scope 2
write /proc/sys/kernel/core_pattern $'|/opt/"co\x01re" %p'
write /sys/kernel/mm/transparent_hugepage/enabled '[always] madvise never'
write /sys/devices/system/clocksource/clocksource0/current_clocksource hpet
write /proc/self/cgroup '0::/outer/inner'
write /proc/self/mountinfo '30 20 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate'
write /sys/fs/cgroup/outer/inner/cpu.max 'max 100000'
write /sys/fs/cgroup/outer/inner/memory.max 2147483648
write /sys/fs/cgroup/outer/inner/pids.max max
write /sys/fs/cgroup/outer/cpu.max '15000 100000'
write /sys/fs/cgroup/outer/memory.max 1073741824
write /sys/fs/cgroup/outer/pids.max 20
try 0 "$weft" doctor --sysroot "$root"
wants warn overcommit 'mode 2'
wants ok 'huge pages' '^always'
wants warn clock '^hpet'
wants ok memory '^8 GiB, 4 GiB available'
wants warn 'processor quota' '^0\.15 processors'
out_has 'WEFT_WORKERS=1$'
wants ok 'memory limit' '^1 GiB'
wants warn 'group tasks' '^20 '
wants warn mappings '^1000 '
wants warn debugger
try 0 "$weft" doctor --json --sysroot "$root"
python3 - "$scratch/out" <<'END' || fail "strange characters come out wrong"
import json, sys
values = {check["name"]: check["value"] for check in json.load(open(sys.argv[1], encoding="ascii"))["checks"]}
assert values["core files"] == 'handed to \'/opt/"co\x01re"\'', values["core files"]
END

# The older hierarchies, in a container that sees its own group as the top.
rm -r "$root/sys/fs/cgroup"
write /proc/self/cgroup $'4:memory:/box/one\n3:cpu,cpuacct:/box/one\n2:pids:/box/one\n0::/'
write /proc/self/mountinfo "$(printf '%s\n' \
    '31 20 0:26 /box /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct' \
    '32 20 0:27 /box/one /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory' \
    '33 20 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids')"
write /sys/fs/cgroup/cpu,cpuacct/one/cpu.cfs_quota_us 250000
write /sys/fs/cgroup/cpu,cpuacct/one/cpu.cfs_period_us 1000000
write /sys/fs/cgroup/memory/memory.limit_in_bytes 536870912
write /sys/fs/cgroup/pids/box/one/pids.max 100000
try 0 "$weft" doctor --sysroot "$root"
wants warn 'processor quota' '^0\.25 processors'
wants ok 'memory limit' '^512 MiB'
wants ok 'group tasks' '^100000 '
write /sys/fs/cgroup/cpu,cpuacct/one/cpu.cfs_quota_us -1
write /sys/fs/cgroup/memory/memory.limit_in_bytes 9223372036854771712
write /sys/fs/cgroup/pids/box/one/pids.max max
try 0 "$weft" doctor --sysroot "$root"
wants ok 'processor quota' '^none$'
wants ok 'memory limit' '^none$'
wants ok 'group tasks' '^none$'

# A system without any of those files is still examined to the end.
rm -r "$root" && mkdir "$root"
try 0 "$weft" doctor --sysroot "$root"
wants warn overcommit unknown
wants warn 'system threads' unknown
try 1 "$weft" doctor --sysroot "$scratch/nowhere"
err_has 'no directory'
misuse "$weft" doctor now
misuse "$weft" doctor --sysroot
err_has 'needs a value'

# System calls that are refused, as by an old kernel or a container.
refused() { # CALL ERROR STATUS
    try "$3" strace -o /dev/null -e "trace=$1" -e "inject=$1:error=$2" "$weft" doctor
}
if ! strace -o /dev/null -e trace=none true 2>/dev/null; then
    echo "without refused system calls: strace does not work here"
    exit 0
fi
refused madvise EINVAL 0
wants warn 'stack guards' 'by mprotect, up to about [0-9]+ stacks'
refused io_uring_setup ENOSYS 0
wants missing io_uring 'unknown to this kernel'
refused io_uring_setup EPERM 0
wants missing io_uring 'not permitted'
refused epoll_pwait2 ENOSYS 0
wants warn 'exact timeouts' 'rounded up to a millisecond'
refused pidfd_open ENOSYS 0
wants missing pidfd
refused membarrier ENOSYS 0
wants missing membarrier
refused perf_event_open EACCES 0
wants missing 'perf counters' 'not permitted'
refused eventfd2 EMFILE 1
wants missing epoll
out_has 'weft cannot run here'
echo "$(wc -l <"$scratch/names") checks"
