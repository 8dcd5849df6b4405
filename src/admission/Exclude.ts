/** Automatic pushes of bots and CI that are not reviewed (review.auto_commit.exclude_sources). */
import type { ExcludeSource } from "../config/schema/Review.ts"
import type { CommitFacts, HostEvent } from "../domain/HostEvent.ts"
import { matches } from "./Matches.ts"

type Pushed = Extract<HostEvent, { readonly _tag: "Pushed" }>

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
