/**
 * Executes actions of a visitor of the pages on a pull request: comments on it, replies to comments at lines, and dismisses them. Forms without
 * script.
 */
import type { IncomingMessage } from "node:http"
import type { DemoEvent } from "./DemoForgeDialect.ts"
import { addComment, addReply, toggleResolved } from "./DemoForgeState.ts"
import type { DemoPull, DemoState, DemoUser } from "./DemoForgeState.ts"
import { readBody } from "./ReadBody.ts"

const maxFormBytes = 256 * 1024

const kinds = ["comments", "replies", "dismissals"] as const

export interface VisitorAction {
  readonly pull: DemoPull
  readonly kind: (typeof kinds)[number]
}

/** Returns the action that a request addresses; undefined for every other request. */
export const parseVisitorAction = (
  state: DemoState,
  request: IncomingMessage,
  target: URL
): VisitorAction | undefined => {
  if (request.method !== "POST") return undefined
  const [, owner, name, number, word] = /^\/([^/]+)\/([^/]+)\/pulls\/(\d+)\/(\w+)$/.exec(target.pathname) ?? []
  const pull = state.repositories.get(`${owner}/${name}`.toLowerCase())?.pulls.get(Number(number))
  const kind = kinds.find((known) => known === word)
  return pull === undefined || kind === undefined ? undefined : { pull, kind }
}

/** Changes the state. Returns the id of the comment that was written. Hosts of this kind send no webhook about a resolved comment. */
const execute = (state: DemoState, { kind, pull }: VisitorAction, visitor: DemoUser, about: number, body: string) => {
  if (kind === "dismissals") return toggleResolved(state, pull, visitor, about)
  if (body === "") return undefined
  return kind === "replies" ? addReply(state, pull, visitor, about, body) : addComment(state, pull, visitor, body).id
}

/** Executes the action with the form in the body. Returns the status of the response, and the event that its webhook reports. */
export const executeVisitorAction = async (
  state: DemoState,
  visitor: DemoUser,
  action: VisitorAction,
  request: IncomingMessage,
  url: string
): Promise<{ readonly status: 303 | 403 | 413; readonly event?: DemoEvent | undefined }> => {
  // Pages of other sites may send forms here too.
  const { origin } = request.headers
  if (origin !== undefined && origin !== url) return { status: 403 }
  const body = await readBody(request, maxFormBytes)
  if (body === undefined) return { status: 413 }
  const form = new URLSearchParams(body.toString("utf8"))
  const text = (form.get("body") ?? "").trim()
  const id = execute(state, action, visitor, Number(form.get("comment")), text)
  if (id === undefined) return { status: 303 }
  return { status: 303, event: { kind: "comment", pull: action.pull, body: text, sender: visitor, id } }
}
