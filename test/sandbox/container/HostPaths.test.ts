/** Paths of a service that runs in a container. */
import { describe, expect, it } from "vitest"
import { findOwnContainer, toHostPath } from "../../../src/sandbox/container/HostPaths.ts"

const id = "0123456789abcdef".repeat(4)

describe("the own container", () => {
  it.each([
    [`608 595 254:1 /var/lib/docker/containers/${id}/hostname /etc/hostname rw - ext4 /dev/vda1 rw`, id],
    [`7 6 0:26 /containers/storage/overlay-containers/${id}/userdata/hosts /etc/hosts rw - tmpfs tmpfs rw`, id],
    [`7 6 0:26 /vfs-containers/${id}/userdata/resolv.conf /etc/resolv.conf rw - tmpfs tmpfs rw`, id],
    [`7 6 0:26 /var/lib/docker/containers/${id}/hostname /mnt/hostname rw - tmpfs tmpfs rw`, undefined],
    ["26 1 254:0 / / rw - ext4 /dev/vda rw", undefined],
    ["", undefined]
  ])("%s", (mounts, expected) => expect(findOwnContainer(`1 2 0:1 / /proc rw\n${mounts}\n`)).toBe(expected))
})

describe("the path on the host", () => {
  const mounts = [
    { source: "/srv/data", destination: "/data" },
    { source: "/srv/trees", destination: "/data/trees" },
    { source: "/var/lib/volume/_data", destination: "/volume/" }
  ]
  it.each([
    ["/data", "/srv/data"],
    ["/data/a/b", "/srv/data/a/b"],
    ["/data/trees/x", "/srv/trees/x"],
    ["/data/treesome", "/srv/data/treesome"],
    ["/volume/x", "/var/lib/volume/_data/x"],
    ["/database", undefined],
    ["/etc", undefined]
  ])("%s", (path, expected) => expect(toHostPath(mounts, path)).toBe(expected))

  it("is any path where the whole host is mounted", () =>
    expect(toHostPath([{ source: "/host", destination: "/" }], "/a/b")).toBe("/host/a/b"))
})
