/**
 * Start script of a virtual machine, for the shell of busybox. It mounts the image read-only, with folders in memory over it, sets the
 * limits, and starts `Guest.ts`. The kernel gives it the settings as variables; `aicr_link` is a pattern, because devices are numbered in
 * the order of their start. Pure.
 */
import { nobody, ownPaths, partsFolder } from "../Locations.ts"

/** Folder with the sockets in the machine. */
export const linkFolder = `${partsFolder}/link`

/** Modules of the kernel, in the order of their dependencies; those that it has built in are missing. */
export const modules = ["virtio_ring", "virtio", "virtio_mmio", "virtio_blk", "virtio_console", "overlay"]

const mounts = [
  "mount -t proc -o nosuid,nodev,noexec,hidepid=2 proc /root/proc",
  "mount -o bind /root/proc/sys /root/proc/sys",
  "mount -o remount,bind,ro /root/proc/sys",
  "mount -t sysfs -o ro,nosuid,nodev,noexec sysfs /root/sys",
  "mount --bind /cgroup/agent /root/sys/fs/cgroup",
  "mount -t devtmpfs -o nosuid,noexec devtmpfs /root/dev",
  "mount -t tmpfs -o size=8m,mode=755,nosuid,nodev tmpfs /root/run",
  `mount -t tmpfs -o size=$aicr_files,mode=1777,nosuid,nodev tmpfs /root${ownPaths.scratch}`,
  `mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /root${ownPaths.repository}`
]

export const startScript = `#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin

stop() { echo "$1" >/dev/console 2>/dev/null; reboot -f; }
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for name in ${modules.join(" ")}; do [ -e /modules/$name.ko ] && insmod /modules/$name.ko; done
await() { n=0; until [ -e $1 ]; do n=$((n+1)); [ $n -gt 600 ] && stop "no $1"; sleep 0.05; done; }
await /dev/vda
mount -t ext4 -o ro /dev/vda /lower || stop "no image"
mount -t tmpfs -o size=16m,mode=755 tmpfs /upper
mkdir /upper/files /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /root || stop "no overlay"
mkdir -p /root/proc /root/sys /root/dev /root/run /root${ownPaths.scratch} /root${ownPaths.repository}
mount -t cgroup2 cgroup2 /cgroup
echo "+memory +pids +cpu" >/cgroup/cgroup.subtree_control
mkdir /cgroup/agent
echo "$aicr_memory" >/cgroup/agent/memory.max
echo "$aicr_processes" >/cgroup/agent/pids.max
echo "$aicr_cpu 100000" >/cgroup/agent/cpu.max
${mounts.map((line) => `${line} || stop "${line.split(" ").at(-1)}"`).join("\n")}
echo "agent:x:${nobody}:${nobody}::${ownPaths.scratch}:/bin/sh" >/root/etc/passwd
echo "agent:x:${nobody}:" >/root/etc/group
mount -o remount,ro /root
mkdir ${`/root${partsFolder}`}
cp /programs/* /bin/busybox ${`/root${partsFolder}`}
echo 0 >/proc/sys/user/max_user_namespaces
hostname sandbox
ip link set lo up
await "/dev/$aicr_link"
link=$(echo /dev/$aicr_link)
case $link in */tty*) stty -F $link raw -echo ;; esac
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin UV_THREADPOOL_SIZE=8
/bin/busybox chroot /root node ${partsFolder}/guest.mjs $link ${linkFolder} ${ownPaths.repository} ${nobody} </dev/null >/dev/null 2>/dev/console
/bin/busybox reboot -f
`
