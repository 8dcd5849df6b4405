/** The state of a pod, as far as sandboxes need it. Pure. */
import { Schema } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { SandboxEnd } from "../drivers/SandboxDriver.ts"

const State = Schema.Struct({
  waiting: Schema.optional(
    Schema.Struct({ reason: Schema.optional(Schema.String), message: Schema.optional(Schema.String) })
  ),
  running: Schema.optional(Schema.Struct({})),
  terminated: Schema.optional(Schema.Struct({ exitCode: Schema.Int, reason: Schema.optional(Schema.String) }))
})
const Condition = Schema.Struct({
  type: Schema.String,
  status: Schema.String,
  message: Schema.optional(Schema.String)
})
export const PodView = Schema.Struct({
  metadata: Schema.Struct({
    name: Schema.String,
    labels: Schema.optional(Schema.Record(Schema.String, Schema.String))
  }),
  status: Schema.optional(
    Schema.Struct({
      phase: Schema.optional(Schema.String),
      reason: Schema.optional(Schema.String),
      message: Schema.optional(Schema.String),
      conditions: Schema.optional(Schema.NullOr(Schema.Array(Condition))),
      containerStatuses: Schema.optional(
        Schema.NullOr(Schema.Array(Schema.Struct({ name: Schema.String, state: Schema.optional(State) })))
      )
    })
  )
})
export type PodView = typeof PodView.Type
export const PodViews = Schema.Struct({ items: Schema.Array(PodView) })
export type PodViews = typeof PodViews.Type

export const agentContainer = "agent"
export const socketsContainer = "sockets"

/** Reasons to wait that do not pass by themselves. */
const lasting = new Set([
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError"
])
const imageReasons = new Set(["ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"])

export type Readiness =
  | { readonly state: "ready" }
  | { readonly state: "waiting"; readonly why: Reason }
  | { readonly state: "failed"; readonly why: Reason; readonly isImage: boolean }

/** Decides whether both containers run. */
export const findReadiness = ({ status = {} }: PodView): Readiness => {
  const containers = status.containerStatuses ?? []
  const described = status.conditions?.find((condition) => condition.status === "False" && condition.message)?.message
  if (status.phase === "Failed" || status.phase === "Succeeded")
    return { state: "failed", why: statusReason(status, "PodContainersEnded"), isImage: false }
  for (const { name, state } of containers) {
    const reason = state?.waiting?.reason
    if (reason !== undefined && lasting.has(reason))
      return {
        state: "failed",
        why: { _tag: "ContainerStuck", name, state: reason, why: state?.waiting?.message },
        isImage: imageReasons.has(reason)
      }
    if (state?.terminated !== undefined)
      return { state: "failed", why: { _tag: "ContainerEnded", name, code: state.terminated.exitCode }, isImage: false }
  }
  const waiting = described ?? containers[0]?.state?.waiting?.reason ?? status.phase
  return containers.length >= 2 && containers.every(({ state }) => state?.running !== undefined)
    ? { state: "ready" }
    : { state: "waiting", why: waiting === undefined ? { _tag: "PodWithoutStatus" } : verbatimReason(waiting) }
}

type Status = NonNullable<PodView["status"]>

const statusReason = ({ message, reason }: Status, otherwise: "PodContainersEnded" | "PodFailed"): Reason => {
  const said = message ?? reason
  return said === undefined ? { _tag: otherwise } : verbatimReason(said)
}

/** Returns how the agent's container ended; undefined while it runs. */
export const findEnd = ({ status = {} }: PodView): SandboxEnd | undefined => {
  const state = status.containerStatuses?.find(({ name }) => name === agentContainer)?.state?.terminated
  if (state !== undefined)
    return {
      code: state.exitCode,
      // SIGKILL without our own kill is lack of memory, also where the runtime does not say so.
      limit: state.reason === "OOMKilled" || state.exitCode === 137 ? "memory" : undefined
    }
  return status.phase === "Failed" ? { code: undefined, failure: statusReason(status, "PodFailed") } : undefined
}
