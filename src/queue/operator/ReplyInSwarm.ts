/** Requests a reply to a comment on a review of Swarm, once, which goes the way of a reply to a comment at a host. */
import { Effect } from "effect"
import { targetKey, toWordsAbout } from "../../domain/Change.ts"
import type { Change, SwarmQuestion } from "../../domain/Change.ts"
import { commandKey } from "../../domain/Keys.ts"
import { isConfigured, requestWork } from "./RequestWork.ts"
import type { Requested } from "./RequestWork.ts"

interface Reviewed {
  readonly change: Change
  readonly head: string
}

export const replyInSwarm = Effect.fnUntraced(function* (
  { change: reviewed, head }: Reviewed,
  author: string,
  source: SwarmQuestion
) {
  const id = `${source.channel}-${source.comment}`
  const change = toWordsAbout(reviewed, head, { author, id, source })
  if (!(yield* isConfigured(change))) return { _tag: "Gone" } satisfies Requested
  // The same for a shelf and its submit, whose comments are on the same review of Swarm.
  const key = commandKey(change.provider, targetKey(change), id)
  return yield* requestWork({ change, event: "swarm", key: () => key, name: author })
})
