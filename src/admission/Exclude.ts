/** Automatic pushes of bots and CI that are not reviewed (review.auto_commit.exclude_sources). */
import { compileMatcher } from "../config/Matcher.ts"
import type { MatcherConfig, Test } from "../config/Matcher.ts"
import type { ExcludeSource } from "../config/schema/Review.ts"
import type { CommitFacts, HostEvent } from "../domain/HostEvent.ts"

type Pushed = Extract<HostEvent, { readonly _tag: "Pushed" }>

const compiled = new WeakMap<MatcherConfig, Test>()

/** Compiles a rule's matcher on first use, once per snapshot. An unknown field matches nothing. */
const matches = (matcher: MatcherConfig, field: string | undefined): boolean => {
  let test = compiled.get(matcher)
  if (test === undefined) {
    test = compileMatcher(matcher)
    compiled.set(matcher, test)
  }
  return field !== undefined && test(field)
}

const hits = (rule: ExcludeSource, push: Pushed, commit: CommitFacts): boolean => {
  if (rule.vcs !== undefined && rule.vcs !== push.provider) return false
  const { author, branch, client, email, message } = rule.match
  if (client !== undefined) return false
  return (
    (author === undefined || matches(author, commit.author)) &&
    (email === undefined || matches(email, commit.email)) &&
    (message === undefined || matches(message, commit.message)) &&
    (branch === undefined || matches(branch, push.branch))
  )
}

/** True when each listed commit is hit by a rule: one commit of a person among those of a bot is reviewed. */
export const isExcluded = (rules: ReadonlyArray<ExcludeSource>, push: Pushed): boolean => {
  if (rules.length === 0) return false
  const pusher: CommitFacts = { author: push.sender?.username, email: undefined, message: "" }
  const commits = push.listed.length === 0 ? [pusher] : push.listed
  return commits.every((commit) => rules.some((rule) => hits(rule, push, commit)))
}
