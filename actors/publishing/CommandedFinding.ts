/**
 * Executes `dismiss` and `reopen`. The finding is the one with the number in the summary, that of the thread of the comment, whose first comment
 * names it, or one that only maintainers get, by digits of the digest that their message has. The state is written to its comments and issues at
 * the host, and takes effect immediately (RuleFinding.ts).
 */
import { Effect } from "effect"
import { targetKey } from "../../src/domain/Change.ts"
import type { ExecutedCommand } from "../../src/domain/CommentCommand.ts"
import { privateDigest } from "../../src/domain/PrivateDigest.ts"
import { isUnresolved } from "../../src/domain/FindingState.ts"
import { labelsFor } from "../../src/outputs/Labels.ts"
import { parseMarkers } from "../../src/outputs/Marker.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import { executed, postOnce, unexecuted } from "./CommandedChange.ts"
import type { CommandedChange } from "./CommandedChange.ts"
import { ruleFinding } from "./RuleFinding.ts"
import { takenOver } from "./TargetHold.ts"
import type { TargetHold } from "./TargetHold.ts"

/** Returns the fingerprint of the finding whose thread has the comment. */
export const readOwnFinding = Effect.fnUntraced(function* ({
  change,
  client,
  comment,
  number
}: Pick<CommandedChange, "change" | "client" | "comment" | "number">) {
  if (comment === undefined) return undefined
  const conversation = yield* client.conversations.read(change.repo, { number, head: undefined }, comment)
  if (conversation?.path === undefined) return undefined
  for (const { body, isOwn } of conversation.comments) {
    const fp = isOwn ? parseMarkers(body).find((marker) => marker.fp !== undefined)?.fp : undefined
    if (fp !== undefined) return fp
  }
  return undefined
})

/** Returns the finding of the newest review that only maintainers get and whose digest alone begins so. */
const findPrivate = Effect.fnUntraced(function* ({ change }: CommandedChange, digest: string) {
  const run = yield* (yield* Runs).latestAnalysis(targetKey(change))
  const [found, other] = (run?.analysis?.private ?? []).filter((one) => privateDigest(one).startsWith(digest))
  return found === undefined || other !== undefined ? undefined : { fp: found.finding.fingerprint, state: undefined }
})

type FindingCommand = Extract<ExecutedCommand, { readonly name: "dismiss" | "reopen" }>

/** Returns the finding that a command is about, with its state in the summary as far as one lists it. */
const findNamed = Effect.fnUntraced(function* (subject: CommandedChange, { digest, number }: FindingCommand) {
  if (digest !== undefined) return yield* findPrivate(subject, digest)
  const summary = yield* (yield* Outbox).lastSent(targetKey(subject.change), "Summary", {})
  const listed = summary?.listed ?? []
  if (number !== undefined) return listed.find((one) => one.number === number)
  const fp = yield* readOwnFinding(subject)
  return fp === undefined ? undefined : { fp, state: listed.find((one) => one.fp === fp)?.state }
})

/** Executes the command of a person who may dismiss findings of the change. `head`: its newest one. */
export const ruleByCommand = Effect.fnUntraced(function* (
  hold: TargetHold,
  subject: CommandedChange,
  head: string,
  command: FindingCommand
) {
  const { change, eventId, person, workspace } = subject
  const named = yield* findNamed(subject, command)
  const state = command.name === "dismiss" ? "dismissed" : "open"
  const isGone = named?.state === "fixed" || named?.state === "moved_away"
  if (named === undefined || isGone) {
    const { noFinding, noPrivateFinding } = labelsFor(workspace.review.output_language)
    if (command.number !== undefined) yield* postOnce(subject, noFinding(command.number))
    if (command.digest !== undefined) yield* postOnce(subject, noPrivateFinding(command.digest))
    return unexecuted({ _tag: "NoFindingNamed" })
  }
  const { fp } = named
  const marked = yield* Effect.catchTag(
    (yield* Outputs).mark(workspace, change, { fp, head, state, by: person }, command.digest !== undefined),
    "ChannelMissing",
    () => Effect.succeed(0)
  )
  const ruled = yield* ruleFinding(hold, targetKey(change), {
    fp,
    counts: state === "open",
    person: { username: person },
    head,
    cause: eventId
  })
  if (ruled === "lost") return yield* takenOver
  const isListed = named.state !== undefined && isUnresolved(named.state) !== (state === "open")
  if (marked === 0 && ruled === "unknown" && !isListed) return unexecuted({ _tag: "NoFindingNamed" })
  if (command.name === "reopen") return executed({ _tag: "FindingReopened", name: person })
  const words = [command.reason, command.text].filter((part) => part !== undefined).join(", ")
  return executed({ _tag: "FindingDismissed", name: person, ...(words === "" ? {} : { reason: words }) })
})
