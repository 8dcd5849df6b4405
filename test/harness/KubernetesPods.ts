/** Runs pods as containers of podman, as the agent of a node does: volumes, isolation, limits, ends, and programs started through exec. */
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Duplex } from "node:stream"
import Docker from "dockerode"
import type { Container as Definition, Pod, VolumeMount } from "kubernetes-types/core/v1.d.ts"
import type { WebSocket } from "ws"
import { demultiplex } from "../../src/sandbox/container/Demultiplex.ts"
import type { Podman } from "./Podman.ts"

interface Running {
  readonly pod: Pod
  readonly folder: string
  readonly containers: Map<string, Docker.Container>
  /** Reason for which the containers cannot run, as `reason: message`. */
  problem: string | undefined
  isEnding: boolean
}

const units: Readonly<Record<string, number>> = { "": 1, m: 0.001, Ki: 1024, Mi: 1_048_576, Gi: 1_073_741_824 }
const parseQuantity = (quantity: string | undefined): number => {
  const [, number = "0", unit = ""] = /^([\d.]+)(\w*)$/.exec(quantity ?? "0") ?? []
  return Number(number) * (units[unit] ?? Number.NaN)
}

export class PodRunner {
  readonly #docker: Docker
  readonly #root: string
  readonly #environment: Readonly<Record<string, string>>
  readonly #mounts: ReadonlyArray<string>
  readonly #pods = new Map<string, Running>()

  /** `mounts` are folders of this machine that every container has, because the image of tests has no node. */
  constructor(
    podman: Podman,
    root: string,
    environment: Readonly<Record<string, string>>,
    mounts: ReadonlyArray<string>
  ) {
    this.#docker = new Docker({ socketPath: podman.socket })
    this.#root = root
    this.#environment = environment
    this.#mounts = mounts
  }

  get size(): number {
    return this.#pods.size
  }

  /** Returns false if the name is in use. */
  create(pod: Pod, isIsolated: boolean): boolean {
    const name = pod.metadata?.name ?? ""
    if (this.#pods.has(name)) return false
    const running: Running = {
      pod,
      folder: join(this.#root, name),
      containers: new Map(),
      problem: undefined,
      isEnding: false
    }
    this.#pods.set(name, running)
    this.#start(running, isIsolated).catch((cause: unknown) => {
      const text = String(cause)
      running.problem = text.includes("no such image") ? `ErrImageNeverPull: ${text}` : `CreateContainerError: ${text}`
    })
    return true
  }

  async find(name: string): Promise<object | undefined> {
    const running = this.#pods.get(name)
    return running === undefined ? undefined : this.#view(running)
  }

  async list(selector: string): Promise<ReadonlyArray<object>> {
    const [key = "", value = ""] = selector.split("=")
    const selected = [...this.#pods.values()].filter(({ pod }) => pod.metadata?.labels?.[key] === value)
    return Promise.all(selected.map((running) => this.#view(running)))
  }

  /** Returns false if there is no such pod. Containers get SIGTERM, and SIGKILL after the grace period. */
  remove(name: string, graceSeconds: number): boolean {
    const running = this.#pods.get(name)
    if (running === undefined) return false
    if (running.isEnding) return true
    running.isEnding = true
    const end = async () => {
      await Promise.all([...running.containers.values()].map((one) => one.stop({ t: graceSeconds }).catch(() => {})))
      for (const one of [...running.containers.values()].toReversed()) await one.remove({ force: true }).catch(() => {})
      rmSync(running.folder, { recursive: true, force: true })
      this.#pods.delete(name)
    }
    void end()
    return true
  }

  /** Starts a program, with the channels of a WebSocket as its streams. */
  async exec(client: WebSocket, name: string, container: string, command: ReadonlyArray<string>): Promise<void> {
    const early: Array<Buffer> = []
    const keep = (message: Buffer) => early.push(message)
    client.on("message", keep)
    const target = this.#pods.get(name)?.containers.get(container)
    if (target === undefined) return client.close()
    const started = await target.exec({ AttachStdin: true, AttachStdout: true, AttachStderr: true, Cmd: [...command] })
    const stream = await started.start({ hijack: true, stdin: true })
    if (!(stream instanceof Duplex)) throw new Error("the stream is not a stream in both directions")
    const write = (message: Buffer) => {
      if (message[0] === 0) stream.write(message.subarray(1))
    }
    for (const message of early) write(message)
    client.off("message", keep).on("message", write)
    client.on("close", () => stream.end())
    const { stderr, stdout } = demultiplex(stream)
    const send = (channel: number) => (chunk: Buffer) => {
      client.send(Buffer.concat([Buffer.from([channel]), chunk]))
      if (client.bufferedAmount > 1_048_576) stream.pause()
      else stream.resume()
    }
    stdout.on("data", send(1))
    stderr.on("data", send(2))
    stdout.on("end", () => {
      client.send(Buffer.concat([Buffer.from([3]), Buffer.from('{"kind":"Status","status":"Success"}')]))
      client.close()
    })
  }

  async close(): Promise<void> {
    for (const name of this.#pods.keys()) this.remove(name, 0)
    while (this.#pods.size > 0) await new Promise((resolve) => setTimeout(resolve, 50))
  }

  async #start(running: Running, isIsolated: boolean): Promise<void> {
    const { containers, folder, pod } = running
    let network = isIsolated ? "none" : "host"
    for (const definition of pod.spec?.containers ?? []) {
      const container = await this.#docker.createContainer(this.#options(pod, definition, folder, network))
      containers.set(definition.name, container)
      await container.start()
      network = `container:${container.id}`
    }
  }

  #options(pod: Pod, definition: Definition, folder: string, network: string): Docker.ContainerCreateOptions {
    const { command = [], name, resources, securityContext: own, volumeMounts = [], workingDir = "/" } = definition
    const limits = resources?.limits ?? {}
    const memory = parseQuantity(limits["memory"])
    const [tmpfs, mounts]: [Record<string, string>, Array<Docker.MountSettings>] = [{}, []]
    for (const path of this.#mounts) mounts.push({ Type: "bind", Source: path, Target: path, ReadOnly: true })
    for (const mount of volumeMounts) {
      const size = this.#memoryBytes(pod, mount)
      if (size !== undefined)
        tmpfs[mount.mountPath] = `${mount.readOnly === true ? "ro" : "rw,exec"},mode=1777,size=${size}`
      else
        mounts.push({
          Type: "bind",
          Source: join(this.#volume(pod, mount.name, folder), mount.subPath ?? ""),
          Target: mount.mountPath,
          ReadOnly: mount.readOnly === true
        })
    }
    return {
      name: `${pod.metadata?.name}-${name}`,
      Image: definition.image ?? "",
      Entrypoint: [...command],
      Cmd: [],
      Env: Object.entries(this.#environment).map(([key, value]) => `${key}=${value}`),
      User: `${own?.runAsUser}:${own?.runAsGroup}`,
      WorkingDir: workingDir,
      HostConfig: {
        NetworkMode: network,
        IpcMode: "private",
        ReadonlyRootfs: own?.readOnlyRootFilesystem === true,
        CapDrop: own?.capabilities?.drop ?? [],
        SecurityOpt: own?.allowPrivilegeEscalation === false ? ["no-new-privileges"] : [],
        GroupAdd: [`${pod.spec?.securityContext?.fsGroup}`],
        Memory: memory,
        MemorySwap: memory,
        NanoCpus: Math.round(parseQuantity(limits["cpu"]) * 1e9),
        PidsLimit: -1,
        Tmpfs: tmpfs,
        Mounts: mounts,
        LogConfig: { Type: "none", Config: {} }
      }
    }
  }

  /** Size of a volume in memory that one container alone mounts. */
  #memoryBytes({ spec }: Pod, { name }: VolumeMount): number | undefined {
    const empty = spec?.volumes?.find((volume) => volume.name === name)?.emptyDir
    const users = spec?.containers.filter(({ volumeMounts = [] }) => volumeMounts.some((mount) => mount.name === name))
    return empty?.medium === "Memory" && users?.length === 1 ? parseQuantity(empty.sizeLimit) : undefined
  }

  #volume(pod: Pod, name: string, folder: string): string {
    const path = join(folder, name)
    const volume = pod.spec?.volumes?.find((one) => one.name === name)
    mkdirSync(path, { recursive: true })
    chmodSync(dirname(path), 0o755)
    if (volume?.emptyDir !== undefined) {
      chownSync(path, 0, pod.spec?.securityContext?.fsGroup ?? 0)
      chmodSync(path, 0o2777)
    }
    for (const { fieldRef, path: file } of volume?.downwardAPI?.items ?? []) {
      const [, key = ""] = /^metadata\.annotations\['(.+)'\]$/.exec(fieldRef?.fieldPath ?? "") ?? []
      writeFileSync(join(path, file), pod.metadata?.annotations?.[key] ?? "", {
        mode: volume?.downwardAPI?.defaultMode ?? 0o644
      })
    }
    return path
  }

  async #view({ containers, pod, problem }: Running): Promise<object> {
    const statuses = await Promise.all(
      (pod.spec?.containers ?? []).map(async ({ name }) => {
        const container = containers.get(name)
        const waiting = { waiting: { reason: problem?.split(":")[0] ?? "ContainerCreating", message: problem } }
        if (container === undefined) return { name, state: waiting }
        const state = await container.inspect().then(
          ({ State }) => State,
          () => undefined
        )
        if (state === undefined || state.Status === "created" || state.Status === "configured")
          return { name, state: waiting }
        if (state.Running) return { name, state: { running: {} } }
        return {
          name,
          state: { terminated: { exitCode: state.ExitCode, reason: state.OOMKilled ? "OOMKilled" : "Error" } }
        }
      })
    )
    const isEnded = statuses.length > 0 && statuses.every(({ state }) => "terminated" in state)
    return { ...pod, status: { phase: isEnded ? "Failed" : "Running", containerStatuses: statuses } }
  }
}
