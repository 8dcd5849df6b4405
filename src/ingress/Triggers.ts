/**
 * `POST /triggers/*`: who calls, what is asked for, admit, store the receipt, queue, answer; like webhooks, and with the same
 * answers. A change of Perforce or Subversion is stored as a routing receipt: its workspace is found afterwards.
 */
import { createHash } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import type { Admission, Refusal } from "../admission/Admit.ts"
import { admitManual, isCommitId } from "../admission/AdmitManual.ts"
import type { ManualRequest } from "../admission/AdmitManual.ts"
import type { ConfigStore } from "../config/ConfigStore.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { targetKey } from "../domain/Change.ts"
import type { TriggerKind } from "../domain/Kinds.ts"
import type { EventRecord } from "../store/Receipts.ts"
import type { Answer } from "./Answers.ts"
import { accepted, ignored, malformed, notConfigured, routed, unauthorized, unavailable } from "./Answers.ts"
import { hasKeys, scopeOf } from "./ApiKeys.ts"
import type { Intake } from "./Intake.ts"
import { parseTrigger } from "./TriggerPayload.ts"
import type { TriggerPath } from "./TriggerPayload.ts"
import type { Wake } from "./Wake.ts"

export interface TriggerParts {
  readonly config: ConfigStore["Service"]
  readonly wake: Wake["Service"]
  readonly intake: Intake
  /** Said once: nothing can be triggered without a key. */
  readonly warnKeyless: () => void
  readonly count: (kind: TriggerKind, decision: string, reason: string) => void
}

export interface Called {
  readonly id: string
  readonly path: TriggerPath
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
  readonly now: number
}

const kindOf = { manual: "manual", custom: "manual", p4: "perforce", svn: "subversion" } as const satisfies Record<
  TriggerPath,
  TriggerKind
>

/** A branch may be asked for again later; the same call within ten minutes is a repetition. */
const repeatedWithinMillis = 600_000

const deliveryOf = ({ body, headers, now, path }: Called, request: ManualRequest | undefined): string => {
  const key = headers["idempotency-key"]
  if (typeof key === "string" && key !== "" && key.length <= 200)
    return `${kindOf[path]}:key:${request?.repo.toLowerCase() ?? ""}:${key}`
  const moves = request !== undefined && !isCommitId(request.head)
  const hash = createHash("sha256")
    .update(`${path}\n${moves ? Math.floor(now / repeatedWithinMillis) : ""}\n`)
    .update(body)
  return `${kindOf[path]}:sha256:${hash.digest("hex")}`
}

export const makeTriggers = (parts: TriggerParts) => {
  const { config, count, intake, wake } = parts

  const failed = (kind: TriggerKind, reason: "store_unavailable" | "queue_full"): Answer => {
    count(kind, "unavailable", reason)
    return unavailable(reason)
  }

  const reject = async (
    { id, now, path }: Called,
    reason: Parameters<typeof malformed>[0],
    issues: Parameters<typeof malformed>[1]
  ): Promise<Answer> => {
    const kind = kindOf[path]
    const record = recordOf(id, kind, path, now, `${kind}:rejected#${id}`)
    if ((await intake.take({ ...record, decision: "rejected", reason }))._tag === "Refused") {
      return failed(kind, "store_unavailable")
    }
    count(kind, "rejected", reason)
    return malformed(reason, issues, kind)
  }

  const decline = async ({ id, now, path }: Called, request: ManualRequest, refusal: Refusal): Promise<Answer> => {
    const taken = await intake.take({
      ...recordOf(id, "manual", path, now, `manual:ignored#${id}`),
      trigger: refusal.trigger?.name,
      workspace: refusal.workspace?.id,
      repo: request.repo,
      decision: "ignored",
      reason: refusal.reason
    })
    if (taken._tag === "Refused") return failed("manual", "store_unavailable")
    count("manual", "ignored", refusal.reason)
    return ignored(id, refusal.reason, "manual", path)
  }

  const start = async (called: Called, request: ManualRequest, admission: Admission): Promise<Answer> => {
    const { id, now, path } = called
    const { change, configHash, dueAt, priority } = admission
    const answer = (event: string, status: Parameters<typeof accepted>[3], due: number) => {
      count("manual", status, "")
      return accepted(event, path, { change, dueAt: due }, status, now)
    }
    if (intake.isFull(change.workspace, now)) return failed("manual", "queue_full")
    const record: EventRecord = {
      ...recordOf(id, "manual", path, now, deliveryOf(called, request)),
      trigger: change.trigger,
      workspace: change.workspace,
      targetKind: change.target.kind,
      targetKey: targetKey(change),
      repo: request.repo,
      decision: "queued",
      work: { change, configHash, priority, dueAt }
    }
    const taken = await intake.take(record, { eventId: id, change, configHash, priority, admittedAt: now, dueAt })
    if (taken._tag === "Refused") return failed("manual", "store_unavailable")
    if (taken._tag === "Duplicate") return answer(taken.first.id, "duplicate", now)
    wake.workspace(change.workspace)
    const { queued = "later" } = taken
    return queued === "later" ? answer(id, "queued", dueAt) : answer(id, queued.status, queued.dueAt)
  }

  return {
    /** Answered before the body is read: the kind is not there, or the caller has no right to it. */
    preflight: (path: TriggerPath, headers: IncomingHttpHeaders): Answer | undefined => {
      const snapshot = config.current()
      if (snapshot.triggersOfKind(kindOf[path]).length === 0) return notConfigured
      if (scopeOf(snapshot, headers) !== undefined) return undefined
      if (!hasKeys(snapshot)) parts.warnKeyless()
      count(kindOf[path], "rejected", "unauthorized")
      return { ...unauthorized, close: true }
    },

    handle: async (called: Called): Promise<Answer> => {
      const { body, headers, id, now, path } = called
      const kind = kindOf[path]
      const snapshot = config.current()
      const scope = scopeOf(snapshot, headers)
      if (scope === undefined) return unauthorized
      const payload = parseTrigger(path, headers["content-type"], body)
      if (payload._tag === "Rejected") return reject(called, payload.reason, payload.issues)
      if (payload._tag === "Manual") {
        const { request } = payload
        const outcome = admitManual({ snapshot, request, scope: scope.workspaces, now })
        return outcome.accepted ? start(called, request, outcome) : decline(called, request, outcome)
      }
      if (isOff(snapshot, kind)) {
        const off = { ...recordOf(id, kind, path, now, `${kind}:ignored#${id}`), decision: "ignored" as const }
        if ((await intake.take({ ...off, reason: "trigger_disabled" }))._tag === "Refused") {
          return failed(kind, "store_unavailable")
        }
        count(kind, "ignored", "trigger_disabled")
        return ignored(id, "trigger_disabled", kind, path)
      }
      const workspaces = scope.workspaces === undefined ? undefined : [...scope.workspaces]
      const routing = { ...payload.change, ...(workspaces === undefined ? {} : { workspaces }) }
      const taken = await intake.take({
        ...recordOf(id, kind, path, now, deliveryOf(called, undefined)),
        targetKind: "commit",
        decision: "queued",
        routing
      })
      if (taken._tag === "Refused") return failed(kind, "store_unavailable")
      const duplicate = taken._tag === "Duplicate"
      count(kind, duplicate ? "duplicate" : "queued", "")
      return routed(duplicate ? taken.first.id : id, kind, path, duplicate ? "duplicate" : "queued")
    }
  }
}

const isOff = (snapshot: Snapshot, kind: TriggerKind): boolean =>
  snapshot.triggersOfKind(kind).every(({ enabled }) => !enabled)

const recordOf = (id: string, provider: TriggerKind, event: string, receivedAt: number, deliveryKey: string) =>
  ({
    id,
    deliveryKey,
    provider,
    event,
    action: undefined,
    trigger: undefined,
    workspace: undefined,
    targetKind: undefined,
    targetKey: undefined,
    repo: undefined,
    decision: "queued",
    reason: undefined,
    work: undefined,
    receivedAt
  }) satisfies EventRecord
