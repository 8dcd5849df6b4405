/** Options of the container of one sandbox. Pure. */
import type { ContainerCreateOptions } from "dockerode"
import { insideFile, nobody, ownPaths, ownSockets } from "../Locations.ts"
import type { SandboxRequest } from "../Sandbox.ts"

interface ContainerSettings {
  readonly image: string
  readonly mark: string
  /** Path of `inside.mjs`. */
  readonly inside: string
  /** Path of the filter of system calls. Default: that of the engine. */
  readonly profile?: string | undefined
  /** Converts a path of the service to one of the engine. */
  readonly toHost: (path: string) => string
}

/**
 * The folder of the parts, which podman makes a file system of its own where the root is read-only: with crun, every user may write to it.
 * The runtime creates the places of the mounts in it as root.
 */
const runFolder = { "/run": "rw,nosuid,nodev,noexec,mode=755,size=64k" }
/** Folders that engines make writable in a container whose root is read-only, or that images leave writable. */
const closedFolders = ["/dev/mqueue", "/dev/shm", "/run/lock", "/var/tmp"]

export const containerName = (mark: string): string => `aicr-${mark}`

export const containerOptions = (
  { labels, limits, installation, repository, sockets }: SandboxRequest,
  { image, inside, mark, profile, toHost }: ContainerSettings
): ContainerCreateOptions => {
  const bind = (from: string, to: string) =>
    ({ Type: "bind", Source: toHost(from), Target: to, ReadOnly: true }) as const
  return {
    name: containerName(mark),
    Image: image,
    Entrypoint: ["node", insideFile],
    Cmd: [],
    Env: [],
    // An engine without root maps it to another user of the machine.
    User: `${nobody}:${nobody}`,
    WorkingDir: "/",
    Labels: { "aicr.sandbox": mark, "aicr.run": labels.run, "aicr.pass": labels.pass },
    Tty: false,
    // stdin is the lifeline: the engine closes it when the connection of a killed service ends.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      NetworkMode: "none",
      IpcMode: "private",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      // With labels of SELinux, the program could read neither the repository nor the sockets, which have those of the service.
      SecurityOpt: [
        "no-new-privileges",
        "label=disable",
        ...(profile === undefined ? [] : [`seccomp=${toHost(profile)}`])
      ],
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.processes,
      Mounts: [
        bind(repository, ownPaths.repository),
        bind(inside, insideFile),
        bind(sockets.model, ownSockets.model),
        bind(sockets.tools, ownSockets.tools),
        ...installation.map((path) => bind(path, path))
      ],
      Tmpfs: {
        [ownPaths.scratch]: `rw,exec,nosuid,nodev,mode=1777,size=${limits.fileBytes}`,
        ...runFolder,
        ...Object.fromEntries(closedFolders.map((folder) => [folder, "ro,nosuid,nodev,noexec,size=4k"]))
      },
      // The output goes to the service alone; a log of it would grow on the disk of the engine.
      LogConfig: { Type: "none", Config: {} },
      RestartPolicy: { Name: "no" }
    }
  }
}
