/**
 * Removes the credentials of a request from text that its server returned: literally, and in the encodings that servers, proxies and
 * libraries use for quoting. A credential is a token, a header with its scheme, or a URL with user information.
 */
const removed = "[redacted]"

/** Minimum length of a part; shorter parts occur in any text. The whole credential is removed whatever its length. */
const minPartLength = 6
/** Minimum length of a piece of an encoding, because shorter pieces are ambiguous. */
const minPieceLength = 8

const decodeBase64 = (text: string): string =>
  /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text, "base64").toString("utf8") : ""

/** Returns the credential, the words of a header, the user and password in a Basic header or URL. */
const parts = (credential: string): ReadonlyArray<string> => {
  const words = credential.split(/\s+/).filter((word) => !/^[A-Za-z-]+:$|^(?:basic|bearer|token)$/i.test(word))
  const url = URL.canParse(credential) ? new URL(credential) : undefined
  const decoded = words.map(decodeBase64).filter((text) => /^[^\p{Cc}\ufffd]+$/u.test(text) && text.includes(":"))
  const passwords = decoded.map((text) => text.slice(text.indexOf(":") + 1))
  const fromUrl = url === undefined ? [] : [url.password, decodeURIComponent(url.password)]
  return [...words, ...decoded, ...passwords, ...fromUrl].filter(({ length }) => length >= minPartLength)
}

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64")

/** Returns the pieces of base64 that depend on `part` alone, at each of the three alignments. */
const base64Pieces = (part: string): ReadonlyArray<string> =>
  [0, 1, 2].map((offset) => {
    const encoded = base64("\0".repeat(offset) + part).replace(/(?<!=)=+$/, "")
    const length = offset + Buffer.byteLength(part)
    return encoded.slice([0, 2, 3][offset], length % 3 === 0 ? undefined : -1)
  })

const lowerCaseEscapes = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())

const encodings = (part: string): ReadonlyArray<string> => {
  const url = encodeURIComponent(part)
  const form = new URLSearchParams({ "": part }).toString().slice(1)
  const json = JSON.stringify(part).slice(1, -1)
  const html = part.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
  const pieces = base64Pieces(part)
  const urlSafe = pieces.map((piece) => piece.replaceAll("+", "-").replaceAll("/", "_"))
  return [
    ...[url, form].flatMap((text) => [text, lowerCaseEscapes(text)]),
    json,
    json.replaceAll("/", "\\/"),
    JSON.stringify(json).slice(1, -1),
    html,
    ...[
      base64(part),
      base64(part).replace(/(?<!=)=+$/, ""),
      ...pieces,
      ...urlSafe,
      ...pieces.map(encodeURIComponent),
      Buffer.from(part).toString("hex")
    ].filter(({ length }) => length >= minPieceLength)
  ]
}

export const redactCredentials = (text: string, credentials: ReadonlyArray<string>): string => {
  const forms = credentials
    .filter((credential) => credential.trim() !== "")
    .flatMap((credential) => [
      credential,
      ...[credential, ...parts(credential)].flatMap((part) => [part, ...encodings(part)])
    ])
  return [...new Set(forms)]
    .toSorted((a, b) => b.length - a.length)
    .reduce((clean, form) => clean.replaceAll(form, removed), text)
}
