/** Excludes pushes and submitted changes of bots and CI from automatic review (review.auto_commit.exclude_sources). */
import { compileMatcher } from "../config/Matcher.ts"
import type { MatcherConfig, Test } from "../config/Matcher.ts"
import type { ExcludeSource } from "../config/schema/Review.ts"
import type { DepotChange } from "../domain/DepotChange.ts"
import type { CommitFacts, HostEvent } from "../domain/HostEvent.ts"
import type { TriggerKind } from "../domain/Kinds.ts"

type Pushed = Extract<HostEvent, { readonly _tag: "Pushed" }>

const compiled = new WeakMap<MatcherConfig, Test>()

/** Compiles a rule's matcher on first use, once per snapshot. A missing field matches nothing. */
const matches = (matcher: MatcherConfig, field: string | undefined): boolean => {
  let test = compiled.get(matcher)
  if (test === undefined) {
    test = compileMatcher(matcher)
    compiled.set(matcher, test)
  }
  return field !== undefined && test(field)
}

/** Input of the rules: one commit of a push, or a submitted change. */
interface Source {
  readonly vcs: TriggerKind
  readonly author: string | undefined
  readonly email: string | undefined
  readonly message: string | undefined
  readonly branch: string | undefined
  readonly client: string | undefined
}
const fields = ["author", "email", "message", "branch", "client"] as const

const hits = ({ match, vcs }: ExcludeSource, source: Source): boolean => {
  if (vcs !== undefined && vcs !== source.vcs) return false
  return fields.every((field) => {
    const matcher = match[field]
    return matcher === undefined || matches(matcher, source[field])
  })
}

/** Returns true if each listed commit matches a rule: a push with one commit of a person among those of a bot is reviewed. */
export const isExcluded = (rules: ReadonlyArray<ExcludeSource>, push: Pushed): boolean => {
  if (rules.length === 0) return false
  const pusher: CommitFacts = { author: push.sender?.username, email: undefined, message: "" }
  const commits = push.listed.length === 0 ? [pusher] : push.listed
  return commits.every(({ author, email, message }) => {
    const source = { vcs: push.provider, author, email, message, branch: push.branch, client: undefined }
    return rules.some((rule) => hits(rule, source))
  })
}

/** Applies the rules to a VCS hook event. */
export const isExcludedChange = (rules: ReadonlyArray<ExcludeSource>, change: DepotChange): boolean => {
  const { client, description: message, user: author, vcs } = change
  const source = { vcs, author, email: undefined, message, branch: undefined, client }
  return rules.some((rule) => hits(rule, source))
}
