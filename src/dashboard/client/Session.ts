/**
 * The session: its token in memory and in the storage of the tab. Other tabs hand it to a new one, because a link from a comment opens a tab.
 * When the session ends, requests wait until the user has logged in again, so that no input is lost.
 */

export interface Session {
  readonly token: string
  readonly username: string
}

/** `Expired`: the pages stay, under a dialog for the password. */
export type SessionState =
  | { readonly _tag: "Starting" }
  | { readonly _tag: "SignedOut" }
  | { readonly _tag: "SignedIn"; readonly session: Session }
  | { readonly _tag: "Expired"; readonly session: Session }

const storageKey = "aicr.session"
/** Time for other tabs to reply. */
const replyMillis = 120

const parse = (text: string | null): Session | undefined => {
  try {
    const value: unknown = JSON.parse(text ?? "null")
    if (typeof value !== "object" || value === null || !("token" in value) || !("username" in value)) return undefined
    const { token, username } = value
    return typeof token === "string" && typeof username === "string" ? { token, username } : undefined
  } catch {
    return undefined
  }
}

let state: SessionState = { _tag: "Starting" }
const listeners = new Set<() => void>()
const channel = new BroadcastChannel("aicr.session")
let waiting: ReadonlyArray<(session: Session | undefined) => void> = []

const change = (next: SessionState): void => {
  state = next
  for (const listener of listeners) listener()
}

const keep = (session: Session): void => {
  sessionStorage.setItem(storageKey, JSON.stringify(session))
  change({ _tag: "SignedIn", session })
  for (const resume of waiting) resume(session)
  waiting = []
}

const drop = (): void => {
  sessionStorage.removeItem(storageKey)
  change({ _tag: "SignedOut" })
  for (const resume of waiting) resume(undefined)
  waiting = []
}

channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  if (data === "request" && state._tag === "SignedIn") channel.postMessage({ session: state.session })
  else if (data === "ended") drop()
  else if (typeof data === "object" && data !== null && "session" in data && state._tag !== "SignedIn") {
    const session = parse(JSON.stringify(data.session))
    if (session !== undefined) keep(session)
  }
})

/** Reason for which the link, or the response of a provider in the address opened no session. */
let refusedLink: unknown
export const linkFailure = (): unknown => refusedLink

const linkHash = /^#login=([0-9a-f]{64})$/

/**
 * Reads the session of this tab, or of another one. A link in the address is exchanged for a session with `redeem`, and removed from the history of the
 * browser first. `ended`: the session of a login at a provider that ends with this page.
 */
export const startSession = async (
  redeem: (link: string) => Promise<Session>,
  ended: Promise<Session> | undefined
): Promise<void> => {
  const [, link] = linkHash.exec(location.hash) ?? []
  if (link !== undefined) history.replaceState(history.state, "", `${location.pathname}${location.search}`)
  const opened = link === undefined ? ended : redeem(link)
  if (opened !== undefined) {
    try {
      return openSession(await opened)
    } catch (error) {
      refusedLink = error
    }
  }
  const stored = parse(sessionStorage.getItem(storageKey))
  if (stored !== undefined) return keep(stored)
  channel.postMessage("request")
  await new Promise((resolve) => setTimeout(resolve, replyMillis))
  if (state._tag === "Starting") change({ _tag: "SignedOut" })
}

export const sessionState = (): SessionState => state

export const onSessionChange = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const openSession = (session: Session): void => {
  keep(session)
  channel.postMessage({ session })
}

/** Ends the session in all tabs of this browser. */
export const endSession = (): void => {
  channel.postMessage("ended")
  drop()
}

/** Waits until the user has logged in again. Undefined: they logged out instead. `token` is the one that was refused. */
export const renewSession = (token: string): Promise<Session | undefined> => {
  if (state._tag === "SignedOut" || state._tag === "Starting") return Promise.resolve(undefined)
  if (state._tag === "SignedIn" && state.session.token !== token) return Promise.resolve(state.session)
  return new Promise((resolve) => {
    waiting = [...waiting, resolve]
    if (state._tag === "SignedIn") change({ _tag: "Expired", session: state.session })
  })
}
