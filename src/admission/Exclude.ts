/** Excludes pushes and submitted changes of bots and CI from automatic review (review.auto_commit.exclude_sources). */
import { compileMatcher } from "../config/Matcher.ts"
import type { MatcherConfig, Test } from "../config/Matcher.ts"
import type { ExcludeSource } from "../config/schema/Review.ts"
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
  /** Names under which the configuration may list the branch. */
  readonly branches: ReadonlyArray<string>
  readonly client: string | undefined
}
const fields = ["author", "email", "message", "client"] as const

const hits = ({ match, vcs }: ExcludeSource, source: Source): boolean => {
  if (vcs !== undefined && vcs !== source.vcs) return false
  const { branch } = match
  if (branch !== undefined && !source.branches.some((name) => matches(branch, name))) return false
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
    const source = { vcs: push.provider, author, email, message, branches: [push.branch], client: undefined }
    return rules.some((rule) => hits(rule, source))
  })
}

/** Applies the rules to a branch of a submitted change. Perforce and Subversion have no e-mail addresses. */
export const isExcludedChange = (
  rules: ReadonlyArray<ExcludeSource>,
  change: Pick<Source, "vcs" | "author" | "client" | "branches"> & { readonly description: string }
): boolean => {
  const source = { ...change, email: undefined, message: change.description }
  return rules.some((rule) => hits(rule, source))
}
