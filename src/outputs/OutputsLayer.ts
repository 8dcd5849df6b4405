/** `Outputs` over the channel table: plans the publications of a change and sends each with the credentials of its channel. */
import { Effect, Layer } from "effect"
import { MemberFiles } from "../chat/members/MemberFiles.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Workspace } from "../config/Snapshot.ts"
import { hasUsername, repositoryKey, toDecided, toDiscussed } from "../domain/Change.ts"
import type { Change } from "../domain/Change.ts"
import type { Operation, Publication, Reaction } from "../domain/Publication.ts"
import type { IssueCode } from "../domain/IssueCode.ts"
import { Forges } from "../forge/Forges.ts"
import { HostTraffic } from "../forge/HostTraffic.ts"
import { ModelRun } from "../llm/ModelRun.ts"
import { Cache } from "../store/Cache.ts"
import { ChatSends } from "../store/ChatSends.ts"
import { DirectOptOuts } from "../store/DirectOptOuts.ts"
import { Objects } from "../store/Objects.ts"
import { AuthorGuess } from "./AuthorGuess.ts"
import type { ChannelKind, ChannelContext, Sent } from "./channels/Channel.ts"
import { ChannelClients } from "./channels/ChannelClients.ts"
import { findDismisser } from "./review/ChatDismissal.ts"
import { findDismissers } from "./review/Dismissal.ts"
import { channelTable } from "./channels/Channels.ts"
import { findAtHost, isHostOperation, sendAtHost } from "./channels/HostOperations.ts"
import { commentUrl } from "./text/Links.ts"
import { ChannelMissing, Outputs } from "./Outputs.ts"
import { isPrivateRow } from "./PrivateRow.ts"
import * as ReadSwarm from "./swarm/ReadSwarm.ts"
import { findSignedVerdict, signVerdict } from "./review/SignVerdict.ts"
import type { SentRow } from "./Outputs.ts"
import { planRows, routedChannels, toPublication, statusRows } from "./channels/PlanRows.ts"
import type { ChannelKinds } from "./channels/PlanRows.ts"
import { checkPrivateRepository, writesIssues } from "./channels/PrivateRepository.ts"
import { privateChannel, privateChannels } from "./channels/PrivateRows.ts"
import { channelNamed } from "./channels/Routing.ts"

/** Services for sending and finding. */
interface Sender {
  readonly kinds: ChannelKinds
  readonly clients: ChannelClients
  readonly config: ConfigStore["Service"]
  readonly objects: Objects["Service"]
  readonly cache: Cache["Service"]
  readonly members: MemberFiles["Service"]
  /** The guess of this layer; the context of an operation may have another one. */
  readonly guess: AuthorGuess["Service"]
  readonly sends: ChatSends["Service"]
  readonly optOuts: DirectOptOuts["Service"]
  readonly traffic: HostTraffic["Service"]
}

/** Replaces the change's repository by the one that the channel names. */
const retarget = (change: Change, { owner, repo, project_id: project }: ChannelConfig): Change => {
  // GitLab accepts the id of a project in place of its path.
  if (project !== undefined) return { ...change, repo: { fullName: String(project) } }
  if (owner === undefined && repo === undefined) return change
  const [ownOwner, ownName] = change.repo.fullName.split("/")
  return { ...change, repo: { fullName: `${owner ?? ownOwner}/${repo ?? ownName}` } }
}

/** Links a status to the summary of its run, or else to the planned URL. */
const withSummaryLink = (
  status: Extract<Operation, { readonly _tag: "Status" }>,
  change: Change,
  summary: Publication | undefined
) => {
  const url = summary === undefined ? undefined : commentUrl(change, summary)
  return url === undefined ? status : { ...status, url }
}

const toContext = (
  { clients, cache, members }: Sender,
  workspace: Workspace,
  change: Change,
  channel: ChannelConfig
): ChannelContext => {
  const snapshot = workspace.snapshot()
  return {
    client: clients.channel(channel, change, snapshot),
    change: retarget(change, channel),
    reviewed: change,
    workspace,
    channel,
    credential: snapshot.credential,
    cache,
    members
  }
}

const context = (
  sender: Sender,
  workspace: Workspace,
  change: Change,
  publication: Publication
): Effect.Effect<{ readonly to: ChannelContext; readonly kind: ChannelKind }, ChannelMissing> => {
  const channel = isPrivateRow(workspace, publication)
    ? privateChannel(workspace, change)
    : channelNamed(workspace.outputs, change.provider, publication.channel)
  const kind = channel === undefined ? undefined : sender.kinds.get(channel.kind)
  if (channel === undefined || kind === undefined) {
    const why = { _tag: "ChannelMissing", channel: publication.channel, workspace: workspace.id } as const
    return Effect.fail(new ChannelMissing({ why }))
  }
  return Effect.succeed({ kind, to: toContext(sender, workspace, toDecided(change), channel) })
}

/** Charges the model calls of a channel to the run that it publishes. */
const withOwner =
  ({ guess }: Sender, change: Change, { runId }: Publication) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(ModelRun, { id: runId, repository: repositoryKey(change) }),
      Effect.provideService(AuthorGuess, guess)
    )

const rowOfSent = (
  publication: Publication,
  { hostId, url, next = [], ignoredDismissals, listed, note, nothingToDo, posted, reactions, skipped }: Sent
): SentRow => ({
  hostId,
  url,
  ignoredDismissals,
  reactions,
  posted,
  listed,
  skipped,
  note,
  nothingToDo,
  next: next.map((planned) => toPublication(publication, publication.channel, publication.position, planned))
})

/** Messages to chat platforms and comments of Swarm have credentials of their own. */
const writesToHost = ({ kind }: ChannelConfig, { _tag }: Operation): boolean =>
  _tag !== "Chat" && _tag !== "DirectMessage" && kind !== "p4_swarm"

const execution = ({ change, channel }: ChannelContext, workspace: Workspace) => ({
  workspace,
  change,
  hasOwnToken: channel.token !== undefined || channel.token_env !== undefined || channel.base_url !== undefined
})

const sendWith = (sender: Sender): Outputs["Service"]["send"] =>
  Effect.fnUntraced(function* (workspace, change, publication, previous) {
    const { clients } = sender
    const { operation } = publication
    if (operation._tag === "Withdraw") return yield* withdraw(sender, workspace, change, operation)
    if (operation._tag === "Statement")
      return yield* Effect.provideService(
        signVerdict(publication, operation, sender.config.current()),
        Objects,
        sender.objects
      )
    if (isHostOperation(operation, change)) {
      const linked = operation._tag === "Status" ? withSummaryLink(operation, change, previous) : operation
      const written = yield* clients.execute(
        (client) =>
          sendAtHost(client, change, linked, {
            key: publication.operationId,
            language: workspace.review.output_language
          }),
        clients.host(workspace, change),
        { workspace, change, isStatus: linked._tag === "Status" }
      )
      return { ...written, next: [] }
    }
    const { to, kind } = yield* context(sender, workspace, change, publication)
    const isPrivate = isPrivateRow(workspace, publication)
    const owned = (from: ChannelContext, row: Publication) =>
      Effect.andThen(
        isPrivate && writesIssues(operation) ? checkPrivateRepository(from) : Effect.void,
        kind.send(from, row, previous)
      ).pipe(
        withOwner(sender, change, publication),
        Effect.provideService(ChatSends, sender.sends),
        Effect.provideService(DirectOptOuts, sender.optOuts),
        Effect.provideService(HostTraffic, sender.traffic)
      )
    const sent = yield* writesToHost(to.channel, operation)
      ? clients.execute(
          // A repeated operation looks for what the first attempt may have written.
          (client, isRepeated) =>
            isRepeated
              ? owned({ ...to, client: Effect.succeed(client) }, { ...publication, attempts: publication.attempts + 1 })
              : owned(to, publication),
          to.client,
          execution(to, workspace)
        )
      : owned(to, publication)
    return rowOfSent(publication, sent)
  })

const findWith = (sender: Sender): Outputs["Service"]["find"] =>
  Effect.fnUntraced(function* (workspace, change, publication, previous) {
    const { operation } = publication
    // It may be repeated.
    if (operation._tag === "Withdraw") return undefined
    if (operation._tag === "Statement")
      return yield* Effect.provideService(findSignedVerdict(publication, operation), Objects, sender.objects)
    if (isHostOperation(operation, change)) {
      const written = yield* sender.clients.execute(
        (client) => findAtHost(client, change, publication, operation),
        sender.clients.host(workspace, change),
        { workspace, change, isStatus: operation._tag === "Status" }
      )
      return written === undefined ? undefined : { ...written, next: [] }
    }
    const { to, kind } = yield* context(sender, workspace, change, publication)
    const owned = (from: ChannelContext) =>
      kind
        .find(from, publication, previous)
        .pipe(withOwner(sender, change, publication), Effect.provideService(HostTraffic, sender.traffic))
    const sent = yield* writesToHost(to.channel, operation)
      ? sender.clients.execute(
          (client, isRepeated) => owned(isRepeated ? { ...to, client: Effect.succeed(client) } : to),
          to.client,
          execution(to, workspace)
        )
      : owned(to)
    return sent === undefined ? undefined : rowOfSent(publication, sent)
  })

const issueCodeWith = (sender: Sender): Outputs["Service"]["issueCode"] =>
  Effect.fnUntraced(function* (workspace, change) {
    const codes: Array<IssueCode> = []
    for (const { channel, kind } of [
      ...privateChannels(sender.kinds, workspace, change).filter(({ isElsewhere }) => !isElsewhere),
      ...routedChannels(sender.kinds, workspace, change)
    ])
      if (kind.issueCode !== undefined)
        codes.push(...(yield* kind.issueCode(toContext(sender, workspace, change, channel))))
    return codes
  })

const reactionsWith = (sender: Sender): Outputs["Service"]["reactions"] =>
  Effect.fnUntraced(function* (workspace, change, review) {
    const reactions: Array<Reaction> = []
    for (const { channel, kind } of routedChannels(sender.kinds, workspace, change))
      if (kind.reactions !== undefined)
        reactions.push(
          ...(yield* kind.reactions(toContext(sender, workspace, change, channel), {
            ...review,
            channel: channel.name
          }))
        )
    return reactions
  })

const dismissWith = (sender: Sender): Outputs["Service"]["dismiss"] =>
  Effect.fnUntraced(function* (workspace, change, dismissal) {
    const { fp, head } = dismissal
    const host = yield* sender.clients.host(workspace, change)
    const dismisser = yield* findDismisser(host, sender.members, workspace, change, dismissal)
    if (dismisser._tag === "Refused") return dismisser.outcome
    const count = yield* markWith(sender)(workspace, change, { fp, head, state: "dismissed", by: dismisser.by })
    return count === 0 ? "not_published" : "dismissed"
  })

const markWith = (sender: Sender): Outputs["Service"]["mark"] =>
  Effect.fnUntraced(function* (workspace, change, finding, isPrivate = false) {
    if (workspace.outputs.shadow) return 0
    let count = 0
    const channels = isPrivate
      ? privateChannels(sender.kinds, workspace, change).filter(({ isElsewhere }) => !isElsewhere)
      : routedChannels(sender.kinds, workspace, change)
    for (const { channel, kind } of channels) {
      if (kind.mark === undefined) continue
      const to = toContext(sender, workspace, change, channel)
      if (isPrivate) yield* checkPrivateRepository(to)
      count += yield* kind.mark(to, finding).pipe(Effect.provideService(HostTraffic, sender.traffic))
    }
    return count
  })

const mayDismissWith = (sender: Sender): Outputs["Service"]["mayDismiss"] =>
  Effect.fnUntraced(function* (workspace, change, username) {
    if (hasUsername(change.author, username)) return false
    const host = yield* sender.clients.host(workspace, change)
    return (yield* findDismissers(host, change, workspace.review.dismissal, [username]))(username)
  })

/** Marks a finding as withdrawn in all comments and issues that reviews of its change wrote. */
const withdraw = Effect.fnUntraced(function* (
  sender: Sender,
  workspace: Workspace,
  change: Change,
  { fp, head }: Extract<Operation, { readonly _tag: "Withdraw" }>
) {
  const ruled = { fp, head, state: "withdrawn", by: undefined } as const
  const count = yield* markWith(sender)(workspace, toDiscussed(change), ruled)
  const nothingToDo = count === 0 ? ({ _tag: "GoneAtHost" } as const) : undefined
  return { hostId: fp, url: undefined, nothingToDo, next: [] } satisfies SentRow
})

export const layer = Layer.effect(
  Outputs,
  Effect.gen(function* () {
    const forges = yield* Forges
    const table = channelTable((kind) => forges.of(kind).bodyLimit)
    const kinds = new Map<string, ChannelKind>(Object.entries(table))
    const config = yield* ConfigStore
    const clients = new ChannelClients(forges, config)
    const sender: Sender = {
      kinds,
      clients,
      config,
      objects: yield* Objects,
      cache: yield* Cache,
      members: yield* MemberFiles,
      guess: yield* AuthorGuess,
      sends: yield* ChatSends,
      optOuts: yield* DirectOptOuts,
      traffic: yield* HostTraffic
    }
    return Outputs.of({
      anyFor: (workspace, change) => routedChannels(kinds, workspace, change).length > 0,
      plan: (input) => planRows(kinds, input),
      status: statusRows,
      issueCode: issueCodeWith(sender),
      reactions: reactionsWith(sender),
      send: sendWith(sender),
      find: findWith(sender),
      mayDismiss: mayDismissWith(sender),
      dismiss: dismissWith(sender),
      mark: markWith(sender)
    })
  })
).pipe(Layer.provide(MemberFiles.layer), Layer.merge(ReadSwarm.layer))
