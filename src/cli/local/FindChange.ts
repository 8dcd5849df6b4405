/** Finds the change at the host for a local review: trigger, repository, open pull request. */
import { Effect } from "effect"
import type { Snapshot, TriggerProfile, Workspace } from "../../config/Snapshot.ts"
import type { Change } from "../../domain/Change.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import { toChange } from "../../forge/Forge.ts"
import { Forges } from "../../forge/Forges.ts"
import { Outputs } from "../../outputs/Outputs.ts"
import { ExitWith } from "../Exit.ts"

export interface WantedChange {
  /** Repository as `owner/name`, if the workspace does not name it. */
  readonly repo: string | undefined
  /** Number of the pull request, if its head is not sufficient to find it. */
  readonly pull: number | undefined
}

export interface FoundChange {
  readonly change: Change & { readonly head: string; readonly base: string }
  readonly url: string
}

const refused = (message: string) => new ExitWith({ code: 2, message: `--publish: ${message}` })

export const findChange = Effect.fn("findChange")(function* (
  snapshot: Snapshot,
  workspace: Workspace,
  wanted: WantedChange,
  head: string
): Effect.fn.Return<FoundChange, ExitWith, Forges | Outputs> {
  const { profile, fullName } = yield* sourceOf(snapshot, workspace, wanted.repo)
  const { kind } = profile
  if (!isForgeKind(kind)) {
    return yield* refused(
      `trigger ${profile.name} is of kind ${kind}; reviews are published on pull requests of git hosts`
    )
  }
  const client = (yield* Forges).client(profile)
  const repo = { fullName }
  const orFail = <A>(effect: Effect.Effect<A, { readonly message: string }>) =>
    Effect.mapError(
      effect,
      ({ message }) => new ExitWith({ code: 3, message: `--publish: the request to the host failed: ${message}` })
    )
  const short = head.slice(0, 12)
  const numbers = wanted.pull === undefined ? yield* orFail(client.openPulls(repo, head)) : [wanted.pull]
  const [number, ...others] = numbers
  if (number === undefined) {
    return yield* refused(
      `no open pull request of ${fullName} (trigger ${profile.name}) has ${short} as its head; push the commit, or name the pull request with --pull`
    )
  }
  if (others.length > 0) {
    return yield* refused(`pull requests ${numbers.join(", ")} have ${short} as their head; name one with --pull`)
  }
  const pull = yield* orFail(client.pull(repo, number))
  if (pull.state !== "open") return yield* refused(`pull request ${number} of ${fullName} is ${pull.state}`)
  if (pull.head !== head) {
    return yield* refused(
      `the head of pull request ${number} of ${fullName} is ${pull.head.slice(0, 12)}, not ${short}; push or pull first, or review it with --head`
    )
  }
  const change = {
    ...toChange(pull),
    provider: kind,
    trigger: profile.name,
    workspace: workspace.id,
    target: { kind: "pull_request" as const, number },
    // Existing comments of an earlier publication are looked up at the host, and not repeated.
    requestedBy: "aicr review --publish"
  }
  if (!(yield* Outputs).anyFor(workspace, change)) {
    return yield* refused(
      `no channel publishes pull requests of trigger ${profile.name} in workspace ${workspace.id}; see outputs.routes and aicr route test`
    )
  }
  return { change, url: pull.url }
})

const sourceOf = (
  snapshot: Snapshot,
  workspace: Workspace,
  named: string | undefined
): Effect.Effect<{ readonly profile: TriggerProfile; readonly fullName: string }, ExitWith> => {
  const source = workspace.instance.source_repo
  const fullName = named ?? source?.repo
  if (fullName === undefined) {
    return refused(`workspace ${workspace.id} is for every repository that its match rules name; say which with --repo`)
  }
  const profiles = [...snapshot.triggers.values()].filter(
    ({ name, kind }) =>
      (source === undefined || source.trigger === name) &&
      snapshot
        .route(name, { vcs: kind, repo_ref: fullName, ...partsOf(fullName) })
        .some(({ id }) => id === workspace.id)
  )
  const [profile, ...others] = profiles
  if (profile === undefined) {
    return refused(`workspace ${workspace.id} is not for ${fullName}; see its source_repo or match rules`)
  }
  if (others.length > 0) {
    const names = profiles.map(({ name }) => name).join(", ")
    return refused(
      `triggers ${names} all bring ${fullName} to workspace ${workspace.id}; give one of them its own workspace`
    )
  }
  return Effect.succeed({ profile, fullName })
}

const partsOf = (fullName: string) => {
  const slash = fullName.lastIndexOf("/")
  return slash < 0
    ? { repository: fullName }
    : { namespace: fullName.slice(0, slash), repository: fullName.slice(slash + 1) }
}
