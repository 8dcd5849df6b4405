/**
 * Kind `kubernetes`: a pod for each pass, in a namespace whose network policies refuse every connection. A program in the pod's second
 * container, started through the API, carries the connections to model and tools. When its connection ends, also because the service
 * was killed, both containers end.
 */
import { randomInt } from "node:crypto"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { Effect, Schema } from "effect"
import type { Scope } from "effect"
import { openNetwork } from "../link/InnerEnd.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { Env } from "../../config/Credentials.ts"
import type { SandboxConfig } from "../../config/schema/Agent.ts"
import { findOwner } from "../../vcs/ProcessMark.ts"
import { defaultImage } from "../drivers/DefaultImage.ts"
import { ownPaths, partsFolder } from "../Locations.ts"
import { readPrograms } from "../link/ProgramTexts.ts"
import { describeEnd, serveTunnel } from "../link/ServeTunnel.ts"
import { SandboxError } from "../Sandbox.ts"
import type { SandboxRequest } from "../Sandbox.ts"
import type { SandboxDriver, SandboxEnd, SandboxSlot, StartedSandbox } from "../drivers/SandboxDriver.ts"
import { openAccess } from "./ClusterAccess.ts"
import type { ClusterSettings } from "./ClusterAccess.ts"
import { errorText, openApi, toSandboxError } from "./ClusterApi.ts"
import type { ClusterApi } from "./ClusterApi.ts"
import { openExec } from "./ExecStream.ts"
import { findNetworkGap } from "./NetworkGaps.ts"
import { findEnd, findReadiness, socketsContainer } from "./PodView.ts"
import { linkFolder, maxTasks, podName, sandboxLabels, sandboxPod, sandboxSelector } from "./SandboxPod.ts"

type Cluster = SandboxConfig["kubernetes"]

const pollMillis = 200
/** Time for the cluster to report how a container ended. */
const statusMillis = 4000
const endMillis = 30_000
/** File in the folder of a sandbox with the settings by which its pod is found. */
const record = "cluster"
const Record = Schema.fromJsonString(
  Schema.Struct({ namespace: Schema.optional(Schema.String), service_account_dir: Schema.String })
)

/** Users of agents. Those of two pods on one machine differ with high probability. */
const newUser = (): number => randomInt(10_001, 60_000)

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, SandboxError> =>
  Effect.tryPromise({ try: run, catch: toSandboxError })

const connect = (env: Env, settings: ClusterSettings): Effect.Effect<ClusterApi, SandboxError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(async () => openApi(await openAccess(env, settings))),
    (api) => Effect.promise(() => api.close().catch(() => {}))
  )

const checkNetwork = async (api: ClusterApi): Promise<void> => {
  const { namespace } = api.access
  const gap = findNetworkGap(await api.listPolicies(), sandboxLabels(""))
  if (gap !== undefined)
    throw new SandboxError({
      reason: "invalid",
      why: { _tag: "NamespaceOpen", namespace, why: gap }
    })
}

/** Calls back until a value is returned, or the time is over. */
const poll = async <A>(millis: number, run: () => Promise<A | undefined>): Promise<A | undefined> => {
  for (const until = performance.now() + millis; performance.now() < until; await delay(pollMillis)) {
    const value = await run()
    if (value !== undefined) return value
  }
  return undefined
}

const awaitReady = async (api: ClusterApi, name: string, image: string, cluster: Cluster): Promise<void> => {
  let why: Reason = { _tag: "PodWithoutStatus" }
  const ready = await poll(cluster.start_timeout_seconds * 1000, async () => {
    const pod = await api.findPod(name)
    if (pod === undefined) throw new SandboxError({ reason: "failed", why: { _tag: "PodDeletedAtStart", pod: name } })
    const readiness = findReadiness(pod)
    if (readiness.state === "ready") return true
    why = readiness.why
    if (readiness.state === "waiting") return undefined
    const tag = image === defaultImage ? "ClusterAgentImageUnusable" : "ClusterImageUnusable"
    throw new SandboxError(
      readiness.isImage
        ? { reason: "missing", why: { _tag: tag, image, why } }
        : { reason: "failed", why: { _tag: "PodNotStarted", pod: name, why } }
    )
  })
  if (ready === undefined)
    throw new SandboxError({
      reason: "failed",
      why: { _tag: "PodLate", pod: name, seconds: cluster.start_timeout_seconds, why }
    })
}

/** Ends the pod, and settles when the cluster has confirmed it. */
const removePod = async (api: ClusterApi, name: string): Promise<boolean> => {
  await api.deletePod(name)
  return (await poll(endMillis, async () => ((await api.findPod(name)) === undefined ? true : undefined))) ?? false
}

const acquirePod = (
  api: ClusterApi,
  { folder, mark }: SandboxSlot,
  cluster: Cluster,
  pod: ReturnType<typeof sandboxPod>
): Effect.Effect<void, SandboxError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(async () => {
      const { namespace, service_account_dir } = cluster
      await writeFile(join(folder, record), JSON.stringify({ namespace, service_account_dir }))
      await api.createPod(pod)
    }),
    () =>
      attempt(() => removePod(api, podName(mark))).pipe(
        Effect.catch((error) =>
          Effect.logWarning("sandbox pod not removed", { pod: podName(mark), error: error.message })
        )
      )
  )

/** Starts the sidecar, and waits until it has fetched the repository and the program's streams are connected. */
const link = async (
  api: ClusterApi,
  name: string,
  request: SandboxRequest,
  { start_timeout_seconds: seconds }: Cluster
) => {
  const { host, port } = api.access
  const command = ["node", `${partsFolder}/sidecar.mjs`, linkFolder, ownPaths.repository, host, port]
  const exec = await openExec(api.access, name, socketsContainer, command)
  const tunnel = serveTunnel({ input: exec, output: exec }, request)
  const problem = await Promise.race([
    tunnel.connected,
    tunnel.ended.then((reason) => describeEnd(exec.stderr().trim(), reason)),
    delay<Reason>(seconds * 1000, { _tag: "NotConnectedWithin", seconds }, { ref: false })
  ])
  if (problem === undefined) return { exec, tunnel }
  exec.destroy()
  throw new SandboxError({
    reason: "failed",
    why: exec.stderr().includes(openNetwork)
      ? { _tag: "PodNetworkOpen", pod: name }
      : { _tag: "PodUnusable", pod: name, why: problem }
  })
}

const start = Effect.fnUntraced(function* (
  env: Env,
  { image = defaultImage, kubernetes: cluster }: SandboxConfig,
  request: SandboxRequest,
  slot: SandboxSlot
): Effect.fn.Return<StartedSandbox, SandboxError, Scope.Scope> {
  if (request.installation.length > 0)
    return yield* new SandboxError({
      reason: "invalid",
      why: { _tag: "KubernetesWithoutMounts" }
    })
  const api = yield* connect(env, cluster)
  const name = podName(slot.mark)
  const programs = yield* attempt(() =>
    readPrograms(join(import.meta.dirname, "Hold.ts"), join(import.meta.dirname, "Sidecar.ts"))
  )
  yield* attempt(() => checkNetwork(api))
  yield* acquirePod(
    api,
    slot,
    cluster,
    sandboxPod(request, { mark: slot.mark, image, programs, user: newUser(), cluster })
  )
  yield* attempt(() => awaitReady(api, name, image, cluster))
  const { exec, tunnel } = yield* attempt(() => link(api, name, request, cluster))
  let isKilled = false
  const finish = async (problem: Reason | undefined): Promise<SandboxEnd> => {
    const find = async (): Promise<SandboxEnd | undefined> => {
      const pod = await api.findPod(name)
      return pod === undefined ? { code: undefined, failure: { _tag: "PodDeleted" } } : findEnd(pod)
    }
    const end = isKilled ? undefined : await poll(statusMillis, find)
    exec.destroy()
    const isRemoved = await removePod(api, name)
    const failure: Reason | undefined = isRemoved ? (end?.failure ?? problem) : { _tag: "PodNotEnded" }
    return { code: end?.code, limit: end?.limit, failure }
  }
  return {
    notices: [],
    paths: ownPaths,
    sockets: { model: `${linkFolder}/model.sock`, tools: `${linkFolder}/tools.sock` },
    environment: {},
    watchesCgroup: true,
    maxTasks: maxTasks(request.limits.processes),
    stdin: tunnel.stdin,
    stdout: tunnel.stdout,
    stderr: tunnel.stderr,
    kill: () => {
      isKilled = true
      exec.destroy()
    },
    ended: tunnel.ended
      .then(finish)
      .catch((cause): SandboxEnd => ({ code: undefined, failure: verbatimReason(errorText(cause)) })),
    onLimit: () => {}
  }
})

export const kubernetesDriver = (env: Env): SandboxDriver => {
  const swept = new Set<string>()
  /** Removes pods that have ended and belong to no running service: their folders may be gone with the machine of that service. */
  const sweepEnded = async (api: ClusterApi): Promise<void> => {
    const { namespace } = api.access
    if (swept.has(namespace)) return
    swept.add(namespace)
    for (const { metadata, status } of await api.listPods(sandboxSelector)) {
      const isEnded = status?.phase === "Succeeded" || status?.phase === "Failed"
      const isOwn = findOwner(metadata.labels?.["aicr/sandbox"] ?? "") === "own"
      if (isEnded && !isOwn) await api.deletePod(metadata.name)
    }
  }
  return {
    problem: ({ kubernetes }) =>
      connect(env, kubernetes).pipe(
        Effect.flatMap((api) => attempt(() => checkNetwork(api))),
        Effect.match({ onFailure: (error) => error, onSuccess: () => undefined }),
        Effect.scoped
      ),
    start: (config, request, slot) =>
      connect(env, config.kubernetes).pipe(
        Effect.flatMap((api) => attempt(() => sweepEnded(api))),
        Effect.scoped,
        Effect.catch((error) => Effect.logWarning("ended sandbox pods not removed", { error: error.message })),
        Effect.andThen(start(env, config, request, slot))
      ),
    sweep: (mark, folder) =>
      Effect.scoped(
        Effect.gen(function* () {
          // Without the record, no pod was created.
          const text = yield* Effect.promise(() => readFile(join(folder, record), "utf8").catch(() => ""))
          if (text === "") return
          const settings = yield* attempt(async () => Schema.decodeUnknownSync(Record)(text))
          const api = yield* connect(env, settings)
          const isRemoved = yield* attempt(() => removePod(api, podName(mark)))
          if (!isRemoved) yield* new SandboxError({ reason: "failed", why: { _tag: "PodNotEnded" } })
        })
      )
  }
}
