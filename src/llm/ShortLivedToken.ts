/**
 * A token that a provider gives for a credential and that ends soon: fetched when first needed, shared by all calls, renewed
 * before it ends. One request for it is under way at a time; it is bounded by itself, so that a caller who gives up does not
 * take it away from the others.
 */
export interface Issued {
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** It is not used in the last two minutes of its life: a call that starts with it must still be accepted at its end. */
const marginMillis = 120_000
const issueMillis = 15_000

/** A token younger than this that is refused is not refused for its age. */
const freshMillis = 60_000

export interface ShortLivedToken<A extends Issued> {
  /**
   * Sends with the token in force. When the answer is a 401 though the token should still hold, it is renewed and sent once
   * more.
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
