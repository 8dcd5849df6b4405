/**
 * Plans the delivery of findings that only maintainers get (`review.private`), as a review of these findings alone on their channel. Nothing
 * else of the review is published before it. Pure.
 */
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { Workspace } from "../../config/Snapshot.ts"
import { privateDigest } from "../../domain/PrivateDigest.ts"
import type { PrivateFinding } from "../../domain/Analysis.ts"
import { toDecided } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import type { Finding } from "../../domain/Problem.ts"
import { labelsFor } from "../Labels.ts"
import { signsVerdicts } from "../SigningKeys.ts"
import type { ChannelKind, Planned, PublishInput } from "./Channel.ts"
import { findHostMismatch } from "./ChannelHost.ts"
import { channelNamed } from "./Routing.ts"

/** Returns the channel of private findings, which gets all of them. The author of a change is not made responsible for them. */
export const privateChannel = (
  { outputs, review }: Pick<Workspace, "outputs" | "review">,
  { provider }: Pick<Change, "provider">
): ChannelConfig | undefined => {
  const { channel: name } = review.private
  const channel = name === undefined ? undefined : channelNamed(outputs, provider, name)
  return (
    channel && {
      ...channel,
      assign_committer: false,
      direct_message: undefined,
      min_severity: undefined,
      max_comments: undefined
    }
  )
}

/** Returns the channel of private findings with its kind, and whether it is on a host that does not get those of this change. */
export const privateChannels = (kinds: ReadonlyMap<string, ChannelKind>, workspace: Workspace, change: Change) => {
  const channel = privateChannel(workspace, change)
  const kind = channel && kinds.get(channel.kind)
  if (channel === undefined || kind?.serves(change) !== true) return []
  return [
    { channel, kind, isElsewhere: findHostMismatch(channel, change, workspace.snapshot().triggers) !== undefined }
  ]
}

/** Digits of a digest that a command names. */
const namedDigits = 12

/**
 * Adds what only the message has: how to dismiss the finding on its pull request, and how the statement of the verdict names it, so that who
 * has the message can prove it.
 */
const withNotes = (delivered: PrivateFinding, { change, workspace }: PublishInput): Finding => {
  const { finding, salt } = delivered
  const { fingerprint, problem } = finding
  const digest = privateDigest(delivered)
  const labels = labelsFor(workspace.review.output_language)
  // A command is about the newest review of a pull request, which has only those of a merge group that it reported itself.
  const { kind } = change.target
  const isOfPull = kind === "pull_request" || (kind === "merge_group" && finding.round?.kind === "carried")
  const canDismiss = workspace.review.comment_commands && isOfPull
  const message = [
    problem.message,
    ...(canDismiss ? [labels.dismissPrivate(`/aicr dismiss ${digest.slice(0, namedDigits)}`)] : []),
    ...(signsVerdicts(workspace.snapshot()) ? [labels.inStatement(digest, `${salt}:${fingerprint}`)] : [])
  ].join("\n\n")
  return { ...finding, problem: { ...problem, message } }
}

/** Plans the delivery. A channel that maintains issues also gets reviews without such findings, which resolve what it has. */
export const planPrivate = (
  kinds: ReadonlyMap<string, ChannelKind>,
  input: PublishInput,
  withLinks: (input: PublishInput, channel: ChannelConfig) => PublishInput
): ReadonlyArray<{ readonly channel: string; readonly planned: Planned }> => {
  const { analysis, workspace } = input
  const change = toDecided(input.change)
  const { folded: _folded, late: _late, private: delivered = [], refuted: _refuted, ...others } = analysis
  const findings = delivered.map((one) => withNotes(one, input))
  const alone = { ...others, findings, summary: "", notices: [] }
  // A finding that a channel cannot get is planned all the same: it fails, and nothing is published.
  return privateChannels(kinds, workspace, change).flatMap(({ channel, isElsewhere, kind }) =>
    delivered.length === 0 && (kind.issueCode === undefined || isElsewhere)
      ? []
      : kind
          .plan(withLinks({ ...input, change, analysis: alone }, channel), channel, {
            lineComments: false,
            summary: true
          })
          .map((planned) => ({ channel: channel.name, planned }))
  )
}
