//! What limits the memory of the program: the machine, `ulimit`, and its control groups, such as that of a container.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

/// A limit on memory: how much it allows, and how much of that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub of: &'static str,
    pub allowed: u64,
    pub left: u64,
}

/// The limit that leaves the program the least memory.
pub fn scarcest() -> Option<Limit> {
    let root = Path::new("/");
    [of_machine(root), of_groups(root), of_addresses()].into_iter().flatten().min_by_key(|limit| limit.left)
}

/// The memory that is left in the machine, and in the control groups. 1 GiB if the system does not say.
pub fn available() -> u64 {
    shared(Path::new("/"), |limit| limit.left)
}

/// The memory of the machine, or what the control groups allow if that is less.
pub fn total() -> u64 {
    shared(Path::new("/"), |limit| limit.allowed)
}

/// The memory that the process may still allocate under `ulimit -v` and `-d`, if they limit it.
pub fn addressable() -> Option<u64> {
    of_addresses().map(|limit| limit.left)
}

fn shared(root: &Path, of: impl Fn(Limit) -> u64) -> u64 {
    [of_machine(root), of_groups(root)].into_iter().flatten().map(of).min().unwrap_or(1 << 30)
}

fn of_machine(root: &Path) -> Option<Limit> {
    let text = read(&root.join("proc/meminfo"))?;
    let [allowed, left] = ["MemTotal:", "MemAvailable:"].map(|name| kilobytes(&text, name));
    Some(Limit { of: "the machine has", allowed: allowed?, left: left? })
}

/// The limits of `ulimit`.
fn of_addresses() -> Option<Limit> {
    let process = |of, resource, held| {
        let allowed = getrlimit(resource).current?;
        let held = kilobytes(&read(Path::new("/proc/self/status"))?, held)?;
        Some(Limit { of, allowed, left: allowed.saturating_sub(held) })
    };
    let limits = [
        process("ulimit -v allows", Resource::As, "VmSize:"),
        process("ulimit -d allows", Resource::Data, "VmData:"),
    ];
    limits.into_iter().flatten().min_by_key(|limit| limit.left)
}

/// The limit of the process's control groups and the groups around them that leaves the least memory.
fn of_groups(root: &Path) -> Option<Limit> {
    let groups = read(&root.join("proc/self/cgroup"))?;
    let mounts = read(&root.join("proc/self/mountinfo"))?;
    let each = groups.lines().filter_map(|line| {
        let [_, controllers, path] = line.splitn(3, ':').collect::<Vec<_>>().try_into().ok()?;
        let version = match controllers {
            "" => &V2,
            _ if controllers.split(',').any(|name| name == "memory") => &V1,
            _ => return None,
        };
        let (inside, around) = version.folders(&mounts, path)?;
        let [inside, around] = [inside, around].map(|folder| Some(root.join(folder.strip_prefix("/").ok()?)));
        let (inside, around) = (inside?, around?);
        let folders = inside.ancestors().take_while(|folder| folder.starts_with(&around));
        folders.filter_map(|folder| version.limit(folder)).min_by_key(|limit| limit.left)
    });
    each.min_by_key(|limit| limit.left)
}

/// How a version of control groups tells their limits.
struct Version {
    filesystem: &'static str,
    /// Files with a limit. Each may say that there is none.
    allowed: &'static [&'static str],
    held: &'static str,
    /// The lines of `memory.stat` that count pages of files, which the system can drop.
    cached: [&'static str; 2],
}

const V1: Version = Version {
    filesystem: "cgroup",
    allowed: &["memory.limit_in_bytes"],
    held: "memory.usage_in_bytes",
    cached: ["total_inactive_file ", "total_active_file "],
};

const V2: Version = Version {
    filesystem: "cgroup2",
    allowed: &["memory.max", "memory.high"],
    held: "memory.current",
    cached: ["inactive_file ", "active_file "],
};

impl Version {
    /// The folder of the group `path`, and the folder where its file system is mounted. In a container, the latter may be the folder
    /// of the container's group, and `path` may name it as the host does.
    fn folders(&self, mounts: &str, path: &str) -> Option<(PathBuf, PathBuf)> {
        let mount = mounts.lines().find_map(|line| {
            let (about, system) = line.split_once(" - ")?;
            let [filesystem, _, options] = system.split(' ').collect::<Vec<_>>().try_into().ok()?;
            let has_memory = self.filesystem == "cgroup2" || options.split(',').any(|name| name == "memory");
            (filesystem == self.filesystem && has_memory).then_some(about)
        })?;
        let mut fields = mount.split(' ').skip(3);
        let (group, around) = (fields.next()?, PathBuf::from(unescaped(fields.next()?)));
        let inside = Path::new(path).strip_prefix(unescaped(group)).unwrap_or(Path::new(""));
        // A process that is outside of the groups that it sees has a path that begins with `..`.
        let inside = if inside.starts_with("..") { Path::new("") } else { inside };
        Some((around.join(inside), around))
    }

    fn limit(&self, group: &Path) -> Option<Limit> {
        let number = |file| read(&group.join(file))?.trim().parse::<u64>().ok();
        let allowed = self.allowed.iter().filter_map(|&file| number(file)).min()?;
        let text = read(&group.join("memory.stat")).unwrap_or_default();
        let cached = self.cached.iter().filter_map(|name| field(&text, name)?.parse::<u64>().ok()).sum();
        let held = number(self.held)?.saturating_sub(cached);
        Some(Limit { of: "the control group allows", allowed, left: allowed.saturating_sub(held) })
    }
}

/// A path as `mountinfo` writes it, with `\040` for a space.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(path.to_owned(), |path, (code, char)| path.replace(code, char))
}

/// What follows a name at the start of a line.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The number of kilobytes in a line, converted to bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    Some(field(text, name)?.trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}

/// The text of a file, if it can be read.
fn read(file: &Path) -> Option<String> {
    // Reserves room for the whole file: files in `/proc` report no size, so std would read them a few bytes at a time.
    let mut text = String::with_capacity(4 << 10);
    File::open(file).ok()?.take(u64::MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    const MEMINFO: &str = "MemTotal:       16000000 kB\nMemFree:  100 kB\nMemAvailable:   10000000 kB\n";
    const MACHINE: (u64, u64) = (16_000_000 << 10, 10_000_000 << 10);
    /// Mounts of both versions, as systemd makes them.
    const MOUNTS: &str = "\
        22 1 8:1 / / rw - ext4 /dev/sda rw\n\
        32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu\n\
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    const MOUNT_V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    /// A made-up system, and what its machine and groups allow and leave.
    fn seen(files: &[(&str, &str)]) -> (u64, u64) {
        let root = TempDir::new().unwrap();
        for (name, text) in [("proc/meminfo", MEMINFO)].iter().chain(files) {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (shared(root.path(), |limit| limit.allowed), shared(root.path(), |limit| limit.left))
    }

    #[test]
    fn without_groups_the_machine_limits() {
        assert_eq!(seen(&[]), MACHINE);
        assert_eq!(seen(&[("proc/self/cgroup", "0::/\n"), ("proc/self/mountinfo", MOUNT_V2)]), MACHINE);
        assert_eq!(seen(&[("proc/meminfo", "")]), (1 << 30, 1 << 30));
    }

    /// A container with its own view of the groups: the limit is in the folder of the mount. Pages of files count as free.
    #[test]
    fn a_container_of_version_2_limits() {
        let files = [
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", MOUNT_V2),
            ("sys/fs/cgroup/memory.max", "1073741824\n"),
            ("sys/fs/cgroup/memory.high", "max\n"),
            ("sys/fs/cgroup/memory.current", "500000000\n"),
            ("sys/fs/cgroup/memory.stat", "anon 1\nfile 9\ninactive_file 100000000\nactive_file 200000000\n"),
        ];
        assert_eq!(seen(&files), (1 << 30, (1 << 30) - 200_000_000));
    }

    /// Any group around the process may be the one that limits it. `memory.high` limits too.
    #[test]
    fn the_tightest_group_around_limits() {
        let slice = "sys/fs/cgroup/user.slice/job one.scope/";
        let [own_max, own_current] = ["memory.max", "memory.current"].map(|name| format!("{slice}{name}"));
        let files = [
            ("proc/self/cgroup", "0::/user.slice/job one.scope\n"),
            ("proc/self/mountinfo", MOUNT_V2),
            (own_max.as_str(), "max\n"),
            (own_current.as_str(), "1000\n"),
            ("sys/fs/cgroup/user.slice/memory.high", "3000000\n"),
            ("sys/fs/cgroup/user.slice/memory.max", "4000000\n"),
            ("sys/fs/cgroup/user.slice/memory.current", "1000000\n"),
        ];
        assert_eq!(seen(&files), (3_000_000, 2_000_000));
    }

    #[test]
    fn a_container_of_version_1_limits() {
        let limits = |folder: &str| {
            ["memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"]
                .map(|name| folder.to_owned() + name)
        };
        // The host's name of the group, below the host's mount.
        let [limit, usage, stat] = limits("sys/fs/cgroup/memory/docker/123/");
        let own = [
            (limit.as_str(), "2000000000\n"),
            (usage.as_str(), "600000000\n"),
            (stat.as_str(), "cache 1\ntotal_inactive_file 100000000\n"),
        ];
        let groups = ("proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/docker/123\n0::/\n");
        let files = [&[groups, ("proc/self/mountinfo", MOUNTS)][..], &own].concat();
        assert_eq!(seen(&files), (2_000_000_000, 1_500_000_000));
        // The same name, where only the container's group is mounted.
        let mounted = MOUNTS.replace("/ /sys/fs/cgroup/memory", "/docker/123 /sys/fs/cgroup/memory");
        let [limit, usage, _] = limits("sys/fs/cgroup/memory/");
        let own = [(limit.as_str(), "2000000000\n"), (usage.as_str(), "600000000\n")];
        let files = [&[groups, ("proc/self/mountinfo", mounted.as_str())][..], &own].concat();
        assert_eq!(seen(&files), (2_000_000_000, 1_400_000_000));
        // No limit is a number larger than any memory.
        let own = [(limit.as_str(), "9223372036854771712\n"), (usage.as_str(), "600000000\n")];
        let files = [&[groups, ("proc/self/mountinfo", mounted.as_str())][..], &own].concat();
        assert_eq!(seen(&files), MACHINE);
    }

    #[test]
    fn a_group_outside_of_the_mount_counts_as_the_mount() {
        let files = [
            ("proc/self/cgroup", "0::/../../other\n"),
            ("proc/self/mountinfo", MOUNT_V2),
            ("sys/fs/cgroup/memory.max", "5000\n"),
            ("sys/fs/cgroup/memory.current", "6000\n"),
        ];
        assert_eq!(seen(&files), (5000, 0));
    }
}
