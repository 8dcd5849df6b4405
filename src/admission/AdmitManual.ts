/**
 * Decides whether a call of `/triggers/manual` or `/triggers/custom` starts a review, and which. Pure; the reasons are those of webhooks.
 */
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import type { Change, Person } from "../domain/Change.ts"
import { Priority } from "../domain/Entry.ts"
import type { Admission, Refusal } from "./Admit.ts"
import { bindHost } from "./BindHost.ts"
import { describeBinding, describeRoute } from "./DescribeRoute.ts"

/** The validated request. A revision is a full commit id or a branch. */
export interface ManualRequest {
  readonly repo: string
  readonly head: string
  readonly base: string | undefined
  /** A manual trigger, or the git host's trigger of the repository. */
  readonly trigger: string | undefined
  readonly workspace: string | undefined
  readonly title: string | undefined
  readonly url: string | undefined
  readonly author: Person | undefined
}

interface ManualCall {
  readonly snapshot: Snapshot
  readonly request: ManualRequest
  /** Workspaces that the caller's key may use; undefined: all. */
  readonly scope: ReadonlySet<string> | undefined
  readonly now: number
}

export const isCommitId = (revision: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(revision)

const branchOf = (revision: string | undefined): string | undefined =>
  revision === undefined || isCommitId(revision) ? undefined : revision.replace(/^refs\/heads\//, "")
const idOf = (revision: string | undefined): string | undefined =>
  revision !== undefined && isCommitId(revision) ? revision.toLowerCase() : undefined

export const admitManual = ({ now, request, scope, snapshot }: ManualCall): Admission | Refusal => {
  const { author, base, head, repo, title, url, workspace } = request
  const branch = branchOf(head)
  const refuse = (
    reason: Refusal["reason"],
    trigger?: TriggerProfile,
    bound?: Refusal["workspace"],
    candidates: ReadonlyArray<string> = []
  ): Refusal => ({
    accepted: false,
    reason,
    rule: describeRoute(reason, { repo, branch, trigger, workspace: bound, candidates }),
    trigger,
    workspace: bound,
    closes: undefined
  })
  const manual = snapshot.triggersOfKind("manual")
  const named = manual.find(({ name }) => name === request.trigger)
  const trigger = named ?? manual.find(({ enabled }) => enabled) ?? manual[0]
  if (trigger === undefined) return refuse("repository_not_configured")
  if (!trigger.enabled) return refuse("trigger_disabled", trigger)
  const host = named === undefined ? request.trigger : undefined
  const selection = bindHost(snapshot, { trigger, repo, branch, host, workspace, scope })
  if (selection._tag === "Unbound") return refuse(selection.reason, trigger, selection.workspace, selection.candidates)
  const { binding } = selection
  const change: Change = {
    provider: "manual",
    trigger: trigger.name,
    host: binding.host.name,
    workspace: binding.workspace.id,
    repo: { fullName: repo },
    target: { kind: "manual", branch: base === undefined ? head : `${base}..${head}` },
    head: idOf(head),
    base: idOf(base),
    headRef: branch,
    baseRef: branchOf(base),
    title,
    url,
    author
  }
  return {
    accepted: true,
    rule: describeBinding(binding, repo),
    trigger,
    workspace: binding.workspace,
    change,
    configHash: snapshot.hash,
    priority: Priority.pullRequest,
    dueAt: now,
    request: undefined
  }
}
