/** URLs of Subversion. Pure. */
import type { Reason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"

const protocols = new Set(["http:", "https:", "svn:", "svn+ssh:", "file:"])

/** Refuses other tunnels, which would start programs, and URLs with a password. */
export const checkSvnUrl = (url: string): CheckoutError | undefined => {
  const refuse = (why: Reason) => new CheckoutError({ reason: "failed", why })
  if (!URL.canParse(url)) return refuse({ _tag: "InvalidSvnUrl", url })
  const { password, protocol } = new URL(url)
  if (password !== "") return refuse({ _tag: "SvnUrlWithPassword" })
  return protocols.has(protocol) ? undefined : refuse({ _tag: "SvnUrlScheme", scheme: protocol.slice(0, -1) })
}

/** Adds a path, which svn must not take for a pegged or an escaped one. */
export const joinUrl = (url: string, path: string): string => {
  const base = url.replace(/(?<!\/)\/+$/, "")
  return path === "" ? base : `${base}/${path.split("/").map(encodeURIComponent).join("/")}`
}

/** A target at a revision. An `@` in the path is part of it. */
export const pegged = (url: string, revision: string): string => `${url}@${revision}`

/** Returns the path of a URL below another one; undefined if it is not below. */
export const pathBelow = (base: string, url: string): string | undefined => {
  const [parent, child] = [decode(base).replace(/(?<!\/)\/+$/, ""), decode(url)]
  if (child === parent) return ""
  return child.startsWith(`${parent}/`) ? child.slice(parent.length + 1) : undefined
}

/** Decodes a URL: svn encodes other characters than we do, so decoded texts are compared. */
const decode = (url: string): string => {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}
