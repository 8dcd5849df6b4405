/** Conversations of one change in memory, for tests without a host. */
import { Effect } from "effect"
import type { CommentPlace } from "../../src/domain/Change.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import type { Conversation, ConversationComment, HostConversations } from "../../src/forge/Forge.ts"

interface Thread extends Omit<Conversation, "comments" | "isPart"> {
  readonly comments: Array<ConversationComment>
}

const emptyThread: Thread = {
  comments: [],
  path: undefined,
  line: undefined,
  side: undefined,
  isResolved: false,
  isLocked: false
}

export class MemoryConversations {
  /** Threads by id; comments below the change are in `general`. */
  readonly threads = new Map<string, Thread>()
  readonly reactions: Array<string> = []
  /** Findings that were withdrawn. */
  readonly withdrawn: Array<string> = []
  isPrivate: boolean | undefined = true
  /** Failures of the next calls of a method, first to last. `lost`: the write arrives, its response does not. */
  readonly failures: Array<"read" | "reply" | "lost"> = []
  requests = 0
  #serial = 0

  /** Adds a text, and returns its place. */
  write(thread: string, author: string, body: string, over: Partial<ConversationComment> = {}): CommentPlace {
    const known = this.threads.get(thread) ?? { ...emptyThread, comments: [] }
    this.threads.set(thread, known)
    const id = `c${(this.#serial += 1)}`
    known.comments.push({
      id,
      author: { username: author },
      isOwn: author === "aicr",
      isBot: false,
      body,
      createdAt: this.#serial,
      ...over
    })
    return thread === "general"
      ? { id, on: "pull_request", kind: "general" }
      : { id, on: "pull_request", kind: "line", thread }
  }

  /** Texts of the service in a thread. */
  own(thread: string): ReadonlyArray<string> {
    return (this.threads.get(thread)?.comments ?? []).filter(({ isOwn }) => isOwn).map(({ body }) => body)
  }

  change(thread: string, over: Partial<Thread>): void {
    this.threads.set(thread, { ...(this.threads.get(thread) ?? emptyThread), ...over })
  }

  readonly service: HostConversations = {
    read: (_repo, _target, place) =>
      Effect.suspend(() => {
        this.requests += 1
        if (this.#takeFailure("read")) return unavailable("read")
        const thread = this.#threadOf(place)
        const isThere = thread?.comments.some(({ id }) => id === place.id) === true
        return Effect.succeed(
          thread === undefined || !isThere ? undefined : { ...thread, comments: [...thread.comments], isPart: false }
        )
      }),
    reply: (_repo, _target, place, body) =>
      Effect.suspend(() => {
        this.requests += 1
        if (this.#takeFailure("reply")) return unavailable("reply")
        const { id } = this.write(place.thread ?? "general", "aicr", body)
        if (this.#takeFailure("lost"))
          return Effect.fail(
            new ForgeError({ reason: "unknown_outcome", operation: "reply", why: { _tag: "Text", text: "lost" } })
          )
        return Effect.succeed({ hostId: id, url: `https://host.test/${id}` })
      }),
    findReply: (_repo, _target, place, marker) =>
      Effect.sync(() => {
        this.requests += 1
        const found = this.#threadOf(place)?.comments.find(({ body, isOwn }) => isOwn && body.includes(marker))
        return found === undefined ? undefined : { hostId: found.id, url: undefined, body: found.body }
      }),
    react: (_repo, _target, place, reaction) =>
      Effect.sync(() => {
        this.requests += 1
        this.reactions.push(`${place.id} ${reaction}`)
      }),
    isPrivate: () => Effect.sync(() => this.isPrivate)
  }

  #takeFailure(name: (typeof this.failures)[number]): boolean {
    if (this.failures[0] !== name) return false
    this.failures.shift()
    return true
  }

  #threadOf({ thread = "general" }: CommentPlace): Thread | undefined {
    return this.threads.get(thread)
  }
}

const unavailable = (operation: string) =>
  Effect.fail(
    new ForgeError({ reason: "unavailable", operation, why: { _tag: "Text", text: "the host is unavailable" } })
  )
