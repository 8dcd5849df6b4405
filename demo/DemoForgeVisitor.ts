/** Executes actions of a visitor of the pages on a pull request: comments on it, and dismisses comments at lines. Forms without script. */
import type { IncomingMessage } from "node:http"
import type { DemoEvent } from "./DemoForgeDialect.ts"
import { addComment } from "./DemoForgeState.ts"
import type { DemoPull, DemoState, DemoUser } from "./DemoForgeState.ts"
import { readBody } from "./ReadBody.ts"

const maxFormBytes = 256 * 1024

export interface VisitorAction {
  readonly pull: DemoPull
  readonly kind: "comments" | "dismissals"
}

/** Returns the action that a request addresses; undefined for every other request. */
export const parseVisitorAction = (
  state: DemoState,
  request: IncomingMessage,
  target: URL
): VisitorAction | undefined => {
  if (request.method !== "POST") return undefined
  const [, owner, name, number, kind] =
    /^\/([^/]+)\/([^/]+)\/pulls\/(\d+)\/(comments|dismissals)$/.exec(target.pathname) ?? []
  const pull = state.repositories.get(`${owner}/${name}`.toLowerCase())?.pulls.get(Number(number))
  if (pull === undefined || (kind !== "comments" && kind !== "dismissals")) return undefined
  return { pull, kind }
}

const comment = (state: DemoState, pull: DemoPull, visitor: DemoUser, body: string): DemoEvent | undefined => {
  if (body === "") return undefined
  const { id } = addComment(state, pull, visitor, body)
  return { kind: "comment", pull, body, sender: visitor, id }
}

/** Resolves a comment at a line, or opens it again. Hosts of this kind send no webhook about it. */
const dismiss = (state: DemoState, pull: DemoPull, visitor: DemoUser, id: number): void => {
  const found = pull.reviews.flatMap(({ comments }) => comments).find((candidate) => candidate.id === id)
  if (found === undefined) return
  found.resolver = found.resolver === undefined ? visitor : undefined
  state.version++
}

/** Executes the action with the form in the body. Returns the status of the response, and the event that its webhook reports. */
export const executeVisitorAction = async (
  state: DemoState,
  visitor: DemoUser,
  { pull, kind }: VisitorAction,
  request: IncomingMessage,
  url: string
): Promise<{ readonly status: 303 | 403 | 413; readonly event?: DemoEvent | undefined }> => {
  // Pages of other sites may send forms here too.
  const { origin } = request.headers
  if (origin !== undefined && origin !== url) return { status: 403 }
  const body = await readBody(request, maxFormBytes)
  if (body === undefined) return { status: 413 }
  const form = new URLSearchParams(body.toString("utf8"))
  if (kind === "comments") return { status: 303, event: comment(state, pull, visitor, (form.get("body") ?? "").trim()) }
  dismiss(state, pull, visitor, Number(form.get("comment")))
  return { status: 303 }
}
