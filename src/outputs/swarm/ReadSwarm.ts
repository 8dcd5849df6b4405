/** Reads comments of people on reviews of Swarm. A marker alone proves nothing, because people can copy it: its writer is the user of the channel. */
import { Effect, Layer } from "effect"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { Workspace } from "../../config/Snapshot.ts"
import type { SwarmQuestion } from "../../domain/Change.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import { HostTraffic } from "../../forge/HostTraffic.ts"
import type { SwarmClient, SwarmComment } from "../../forge/swarm/Client.ts"
import { parseMarkers } from "../Marker.ts"
import { SwarmConversations } from "../SwarmConversations.ts"
import type { SwarmThread } from "../SwarmConversations.ts"
import { summaryFp } from "../channels/Scopes.ts"
import { SwarmClients } from "./OpenSwarm.ts"
import { listSwarmChannels } from "./SwarmChannels.ts"
import { fromSwarmBody } from "./SwarmMarkers.ts"
import { toThreads } from "./SwarmThreads.ts"

const isOwn = ({ user }: SwarmClient, comment: SwarmComment): boolean =>
  comment.user.toLowerCase() === user.toLowerCase() && parseMarkers(fromSwarmBody(comment.body)).length > 0

const commentsAfter = Effect.fnUntraced(function* (client: SwarmClient, id: number) {
  const { comments, last } = yield* client.commentsAfter(id)
  const others = comments.flatMap((comment) => {
    const { body, createdAt, id: own, isArchived, place, review, user: author } = comment
    if (review === undefined || isArchived || isOwn(client, comment)) return []
    const isReply = place?.comment !== undefined
    return [{ id: own, review, url: client.address(review), author, body, isReply, createdAt }]
  })
  return { account: client.user, comments: others, last }
})

const readThread = Effect.fnUntraced(function* (client: SwarmClient, { comment: id, review }: SwarmQuestion) {
  const comments = yield* client.comments({ id: review, comments: 1 })
  const threads = toThreads(comments)
  const root = threads.findRoot(id)
  const thread = root === undefined ? [] : threads.list(root)
  const isGone = thread.some((comment) => comment.id === id && comment.isArchived)
  const texts = thread.slice(0, isGone ? 0 : thread.findIndex((comment) => comment.id === id) + 1).map((comment) => ({
    id: comment.id,
    author: comment.user,
    isOurs: isOwn(client, comment),
    body: fromSwarmBody(comment.body)
  }))
  const [first] = texts
  const isOurThread = first?.isOurs === true && texts.length > 1
  const problem = isOurThread
    ? parseMarkers(first.body).find(({ fp }) => fp !== undefined && fp !== summaryFp)
    : undefined
  return {
    account: client.user,
    texts,
    isOurThread,
    fingerprint: problem?.fp,
    path: problem?.file,
    line: root?.place?.rightLine
  } satisfies SwarmThread
})

export const layer = Layer.effect(
  SwarmConversations,
  Effect.map(HostTraffic, (traffic) => {
    const clients = new SwarmClients()
    const open = (workspace: Workspace, channel: ChannelConfig) =>
      clients.open({ channel, workspace }).pipe(
        Effect.provideService(HostTraffic, traffic),
        Effect.mapError(({ why }) => new ForgeError({ reason: "invalid", operation: "GET /comments", why }))
      )
    return SwarmConversations.of({
      channels: listSwarmChannels,
      commentsAfter: ({ channel, workspaces: [workspace] }, id) =>
        workspace === undefined
          ? Effect.succeed({ account: "", comments: [], last: id })
          : Effect.flatMap(open(workspace, channel), (client) => commentsAfter(client, id)),
      read: (workspace, question) => {
        const channel = workspace.outputs.channels.find(
          ({ kind, name }) => kind === "p4_swarm" && name === question.channel
        )
        const why = { _tag: "ChannelMissing", channel: question.channel, workspace: workspace.id } as const
        return channel === undefined
          ? Effect.fail(new ForgeError({ reason: "invalid", operation: "GET /comments", why }))
          : Effect.flatMap(open(workspace, channel), (client) => readThread(client, question))
      }
    })
  })
)
