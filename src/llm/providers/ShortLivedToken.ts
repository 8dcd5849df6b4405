/**
 * A short-lived token that a provider issues for a credential: fetched on first use, shared by all calls, renewed before it
 * expires. At most one request for it is in flight; it has its own timeout, so that an interrupted caller does not cancel it for
 * the others.
 */
export interface Issued {
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** A token is not used in its last two minutes, because a call that starts with it must still be accepted at its end. */
const marginMillis = 120_000
const issueMillis = 15_000

/** A younger token is not refused because of its age. */
const freshMillis = 60_000

export interface ShortLivedToken<A extends Issued> {
  /**
   * Sends a request with the current token. After a 401 with a token that should still be valid, renews the token and sends the
   * request once more.
   */
  readonly use: (send: (held: A) => Promise<Response>) => Promise<Response>
}

export const shortLivedToken = <A extends Issued>(
  issue: (signal: AbortSignal) => Promise<A>,
  now: () => number = Date.now
): ShortLivedToken<A> => {
  let held: { readonly issued: A; readonly at: number } | undefined
  let underWay: Promise<{ readonly issued: A; readonly at: number }> | undefined
  const get = () => {
    if (held !== undefined && now() < held.issued.expiresAt - marginMillis) return Promise.resolve(held)
    underWay ??= issue(AbortSignal.timeout(issueMillis))
      .then((issued) => (held = { issued, at: now() }))
      .finally(() => {
        underWay = undefined
      })
    return underWay
  }
  return {
    use: async (send) => {
      const first = await get()
      const response = await send(first.issued)
      if (response.status !== 401 || now() - first.at < freshMillis) return response
      if (held === first) held = undefined
      return send((await get()).issued)
    }
  }
}
