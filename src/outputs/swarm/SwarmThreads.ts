/** Threads of comments on a review of Swarm: a comment names the one to which it replies. Pure. */
import type { SwarmComment } from "../../forge/swarm/Client.ts"

/** Replies to replies that are followed; Swarm permits fewer. */
const maxDepth = 20

export interface SwarmThreads {
  /** Returns the comment that began the thread of another one, which may be that one; undefined if the review does not have it. */
  readonly findRoot: (id: string) => SwarmComment | undefined
  /** Returns the comments of the thread that a comment began, in the order of their creation. */
  readonly list: (root: SwarmComment) => ReadonlyArray<SwarmComment>
}

export const toThreads = (comments: ReadonlyArray<SwarmComment>): SwarmThreads => {
  const byId = new Map(comments.map((comment) => [comment.id, comment]))
  const findRoot = (id: string): SwarmComment | undefined => {
    let comment = byId.get(id)
    for (let depth = 0; depth < maxDepth; depth++) {
      const above = comment?.place?.comment
      const next = above === undefined ? undefined : byId.get(String(above))
      if (next === undefined) return comment
      comment = next
    }
    return comment
  }
  return { findRoot, list: (root) => comments.filter(({ id }) => findRoot(id)?.id === root.id) }
}
