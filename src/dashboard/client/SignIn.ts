/**
 * Login at the provider of the organization. The tab keeps the secret of the login, and the page to return to, while the provider has it. A
 * response of the provider to a login that this tab did not begin is dropped.
 */
import { call, prefix } from "./Call.ts"
import type { Session } from "./Session.ts"

const storageKey = "aicr.login"
const home = `${prefix}/dashboard`

export const beginSignIn = async (): Promise<void> => {
  const { binding, url } = await call("POST /login/oidc", {})
  if (!["http:", "https:"].includes(new URL(url).protocol)) throw new Error(url)
  const { hash, pathname, search } = location
  sessionStorage.setItem(storageKey, JSON.stringify({ binding, back: `${pathname}${search}${hash}` }))
  location.assign(url)
}

const parse = (text: string | null): { readonly binding: string; readonly back: string } | undefined => {
  try {
    const value: unknown = JSON.parse(text ?? "null")
    if (typeof value !== "object" || value === null || !("binding" in value) || !("back" in value)) return undefined
    const { back, binding } = value
    return typeof binding === "string" && typeof back === "string" ? { binding, back } : undefined
  } catch {
    return undefined
  }
}

/** Returns a page of the dashboard only. */
const toPage = (back: string): string =>
  back === home || back.startsWith(`${home}/`) || back.startsWith(`${home}?`) ? back : home

/** A login that this tab did not begin. */
export class ForeignLogin extends Error {}

/** Ends a login if the address is that to which the provider returns, and removes its response from the history. Undefined: it is not. */
export const endSignIn = (): Promise<Session> | undefined => {
  if (location.pathname !== `${home}/login`) return undefined
  const response = location.search.slice(1)
  const begun = parse(sessionStorage.getItem(storageKey))
  sessionStorage.removeItem(storageKey)
  history.replaceState(null, "", toPage(begun?.back ?? home))
  if (begun === undefined) return Promise.reject(new ForeignLogin())
  return call("POST /login/oidc/finish", { payload: { binding: begun.binding, response } })
}
