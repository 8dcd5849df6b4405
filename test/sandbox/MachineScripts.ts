/** Scripts that start a virtual machine with services, for the shell of busybox. Pure. */
import { dirname } from "node:path"
import { modules } from "../../src/sandbox/microvm/StartScript.ts"
import { secretVariable } from "./Elsewhere.ts"
import { otherUser } from "./OtherUser.ts"

export interface MachineUser {
  /** Whether the service is root, instead of the other user. */
  readonly isRoot: boolean
  /** Whether it has a podman of its own. */
  readonly hasEngine?: boolean
  /** Whether a service manager of the user manages the control groups of containers. */
  readonly hasManager?: boolean
}

/** Folder that containers have to mount. */
export const nodeFolder = dirname(process.execPath)

/** Mounts the disks, by their names, and starts `/second` in the image. */
export const init = `#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for name in ${modules.join(" ")}; do [ -e /modules/$name.ko ] && insmod /modules/$name.ko; done
n=0; until [ -e /dev/vda -a -e /dev/vdb ]; do n=$((n+1)); [ $n -gt 600 ] && reboot -f; sleep 0.05; done
case $(cat /sys/block/vda/serial) in image) image=vda data=vdb ;; *) image=vdb data=vda ;; esac
mount -t ext4 -o ro /dev/$image /lower
mount -t tmpfs tmpfs /upper
mkdir /upper/files /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /root
mkdir -p /root/proc /root/sys /root/dev /root/data
mount -t ext4 /dev/$data /root/data
cp /second /root/
umount /proc /sys
mount --move /dev /root/dev
exec switch_root /root /second
`

const groups = "/sys/fs/cgroup"
const asUser = `/usr/bin/setpriv --reuid=${otherUser} --regid=${otherUser} --clear-groups`

/** Starts a service, with its parts, on the port of its number. */
const startService = ({ hasEngine = false, hasManager = false, isRoot }: MachineUser, at: number): string => {
  const group = `${groups}/service${at}`
  const folder = `/data/${at}`
  const runtime = `/run/user/${at}`
  const port = `/dev/vport0p${at + 1}`
  // An engine without root starts programs that gain rights.
  const dropped = hasEngine ? "" : " --bounding-set=-all --inh-caps=-all"
  const join = (name: string) => `echo 0 >${group}/${name}/cgroup.procs`
  return `
$b mkdir -p ${group}/own ${group}/manager ${folder} ${runtime}
echo "+memory +pids +cpu" >${group}/cgroup.subtree_control
${isRoot ? "" : `$b chown -R ${otherUser}:${otherUser} ${group} ${folder} ${runtime}; $b chown ${otherUser} ${port}`}
export TMPDIR=${folder} HOME=${folder} XDG_RUNTIME_DIR=${runtime}
${hasEngine ? "export AICR_TEST_IMAGE=/image.tar" : ""}
${
  hasManager
    ? `export DBUS_SESSION_BUS_ADDRESS=unix:path=${runtime}/bus AICR_TEST_MANAGER=systemd
$b mkdir -p /run/systemd/system
(${join("manager")}; cd ${folder}; exec ${asUser} /lib/systemd/systemd --user) &
n=0; until [ -e ${runtime}/bus ]; do n=$((n+1)); [ $n -gt 600 ] && break; $b sleep 0.1; done`
    : ""
}
(${join("own")}; cd ${folder}; exec ${isRoot ? "" : asUser + dropped} node /job/MachineService.mjs <>${port} >&0) &
unset AICR_TEST_IMAGE AICR_TEST_MANAGER DBUS_SESSION_BUS_ADDRESS`
}

export const second = (users: ReadonlyArray<MachineUser>): string => `#!/usr/bin/busybox sh
export PATH=/usr/sbin:/usr/bin AICR_TEST_SECRET=${secretVariable}
b=/usr/bin/busybox
cd /
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t cgroup2 cgroup2 ${groups}
$b mount -t tmpfs tmpfs /tmp
$b mkdir -p /dev/pts /dev/shm
$b mount -t devpts devpts /dev/pts
$b mount -t tmpfs tmpfs /dev/shm
$b ln -s /proc/self/fd /dev/fd
$b chmod 1777 /tmp /dev/shm
$b chmod 4755 /usr/bin/newuidmap /usr/bin/newgidmap
$b ifconfig lo up
# The image has a link to the node of the tests.
$b mkdir -p ${nodeFolder}
$b touch ${process.execPath}
$b mount --bind /usr/bin/node ${process.execPath}
echo "root:x:0:0::/:/bin/sh" >/etc/passwd
echo "engine:x:${otherUser}:${otherUser}::/data:/bin/sh" >>/etc/passwd
echo "engine:x:${otherUser}:" >/etc/group
echo "engine:200000:65536" >/etc/subuid
echo "engine:200000:65536" >/etc/subgid
echo "+memory +pids +cpu" >${groups}/cgroup.subtree_control
${users.map(startService).join("\n")}
wait
$b poweroff -f
`
