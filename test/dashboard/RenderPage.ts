/**
 * Renders pages of the dashboard without a browser and without a service: a page is called by its address and gets replies of the administration that
 * have the types of its definition. Every rendered page is checked for what no page may have. Clicks and live updates are tested in Chromium.
 */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { rolldown } from "rolldown"
import { expect } from "vitest"
import { listRefusals } from "../../src/admin/api/LeastRoles.ts"
import { root } from "../../src/app/program/Bundle.mjs"
import type { Endpoint, Input, Output } from "../../src/dashboard/client/Endpoints.ts"
import type { AccessRole } from "../../src/domain/AccessRole.ts"
import { compiledCode } from "../harness/BundledScript.ts"

interface Failed {
  readonly problem: { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
}

type Reply<E extends Endpoint> = Output<E> | Failed
/** Replies by endpoint: the same one for every request, or one by the parameters of a request. An endpoint without one does not reply. */
export type Replies = { readonly [E in Endpoint]?: Reply<E> | ((input: Input<E>) => Reply<E> | undefined) }
export type Language = "en" | "zh-CN"

/** Returns the reply of a request that fails. Status 0: the service is not reachable. */
export const failed = (status: number, body: Readonly<Record<string, unknown>> = {}): Failed => ({
  problem: { status, body }
})

interface Request {
  readonly endpoint: Endpoint
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly payload?: unknown
}

interface Rendered {
  readonly html: string
  readonly requests: ReadonlyArray<Request>
  /** Mistakes that React reports. */
  readonly errors: ReadonlyArray<string>
  readonly isRoute: (path: string) => boolean
  /** Paths of all pages, with names of their parameters. */
  readonly paths: ReadonlyArray<string>
}

interface Renderer {
  readonly render: (page: {
    readonly address: string
    readonly language: Language
    readonly replies: Replies
  }) => Promise<Rendered>
}

/**
 * Code that pages get instead of that of a package. `react`: a value that changes in a browser is read once. `@tanstack/react-virtual`: a list has the
 * height of a screen, which Node cannot measure. The router is that of a server, which loads the code of a page before the page is rendered.
 */
const adapted: Readonly<Record<string, string>> = {
  react: `
    export * from "react"
    import { useSyncExternalStore as use } from "react"
    export const useSyncExternalStore = (subscribe, read) => use(subscribe, read, read)`,
  "@tanstack/react-virtual": `
    import { useVirtualizer as use } from "@tanstack/react-virtual"
    export const useVirtualizer = (options) => use({ ...options, initialRect: { width: 1200, height: 1200 } })`,
  "@tanstack/router-core/isServer": `
    export const isServer = true
    export { loadServerRoute } from ${JSON.stringify(join(root, "node_modules/@tanstack/router-core/dist/esm/load-server.js"))}`
}

/** The code itself imports the package. */
const isAdapted = (id: string, importer: string | undefined): boolean =>
  Object.hasOwn(adapted, id) &&
  importer?.startsWith("\0") !== true &&
  (id !== "react" || importer?.includes("/src/dashboard/") === true)

const bundle = async (): Promise<Renderer> => {
  const made = await rolldown({
    cwd: root,
    input: join(import.meta.dirname, "PageRenderer.mjs"),
    platform: "node",
    logLevel: "silent",
    tsconfig: join(root, "src/dashboard/tsconfig.json"),
    moduleTypes: { ".css": "empty" },
    external: (id: string, importer: string | undefined) =>
      /^(?:effect|react|react-dom)(?:\/|$)/.test(id) && !isAdapted(id, importer),
    plugins: [
      {
        name: "adapt",
        resolveId: (id: string, importer: string | undefined) => (isAdapted(id, importer) ? `\0${id}` : undefined),
        load: (id: string) => adapted[id.slice(1)]
      }
    ]
  })
  const folder = join(compiledCode, "bundles")
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `PageRenderer-${process.pid}.mjs`)
  await made.write({ file, format: "esm", codeSplitting: false })
  await made.close()
  try {
    return (await import(pathToFileURL(file).href)) as Renderer
  } finally {
    rmSync(file, { force: true })
  }
}

let renderer: Promise<Renderer> | undefined

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" }

const decode = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => entities[name] ?? "")

const attribute = (tag: string, name: string): string | undefined => {
  const [, value] = new RegExp(` ${name}="([^"]*)"`).exec(tag) ?? []
  return value === undefined ? undefined : decode(value)
}

interface Element {
  readonly text: string
  readonly attribute: (name: string) => string | undefined
  readonly has: (name: string) => boolean
}

/** Returns the text that people read, with one space between the texts of elements. */
const toText = (html: string): string =>
  decode(html.replaceAll(/<svg.*?<\/svg>/gs, "").replaceAll(/<[^>]*>/g, " "))
    .replaceAll(/\s+/g, " ")
    .trim()

/** Returns elements of a kind, none of which contains another one. */
const listElements = (html: string, name: string): ReadonlyArray<Element> =>
  [...html.matchAll(new RegExp(`(<${name}(?: [^>]*)?>)(.*?)</${name}>`, "gs"))].map(([, tag = "", inner = ""]) => ({
    text: toText(inner),
    attribute: (key) => attribute(tag, key),
    has: (key) => new RegExp(` ${key}(?:=|[ >])`).test(tag)
  }))

export interface RenderedPage {
  readonly html: string
  readonly text: string
  /** Texts between two tags, and those of attributes that people hear or read. */
  readonly texts: ReadonlyArray<string>
  /** Addresses of links by their text. */
  readonly links: ReadonlyArray<{ readonly text: string; readonly href: string }>
  readonly buttons: ReadonlyArray<{ readonly text: string; readonly isDisabled: boolean; readonly title: string }>
  /** States with their colour, such as `warn Partial`. */
  readonly states: ReadonlyArray<string>
  readonly requests: ReadonlyArray<Request>
  readonly paths: ReadonlyArray<string>
  readonly elements: (name: string) => ReadonlyArray<Element>
}

const readTexts = (html: string): ReadonlyArray<string> => [
  ...[...html.replaceAll(/<(svg|style)\b.*?<\/\1>/gs, "").matchAll(/>([^<>]+)</g)].map(([, text = ""]) => decode(text)),
  ...[...html.matchAll(/ (?:title|aria-label|placeholder|alt)="([^"]*)"/g)].map(([, text = ""]) => decode(text))
]

/** Mistakes of code that reach a text. */
const mistakes = /\bundefined\b|\bNaN\b|\[object |Invalid Date|\bInfinity\b/

/** Links of the program that no page of the dashboard has. */
const isElsewhere = (href: string): boolean =>
  href.startsWith("#") || /^https?:\/\//.test(href) || /^\/(?:api\/docs|dashboard\/docs\/)/.test(href)

const contentOf = (html: string): string => /<main [^>]*>(.*)<\/main>/s.exec(html)?.[1] ?? html

const checkPage = ({ errors, html, isRoute }: Rendered): void => {
  expect(errors).toEqual([])
  expect(readTexts(html).filter((text) => mistakes.test(text))).toEqual([])
  const hrefs = [...html.matchAll(/ href="([^"]*)"/g)].map(([, href = ""]) => decode(href))
  expect(hrefs.filter((href) => !isElsewhere(href) && !isRoute(href))).toEqual([])
}

/** Returns the session of a user with a role, and what the role may not request by the table of the service. */
export const makeSession = (role: AccessRole): Output<"GET /session"> => ({
  username: "ops",
  role,
  refused: listRefusals(role),
  config_source: true
})

interface Options {
  readonly language?: Language
  readonly role?: AccessRole
  /** The whole page with its frame, instead of its content. */
  readonly whole?: boolean
}

/** The router redirects to the address as it writes it. */
const canonical = (address: string): string => {
  const [path = "/", query] = address.split("?")
  return query === undefined ? path : `${path}?${new URLSearchParams(query).toString()}`
}

/** `address`: path and query below the dashboard. */
export const renderPage = async (
  address: string,
  replies: Replies = {},
  { language = "en", role = "administrator", whole = false }: Options = {}
): Promise<RenderedPage> => {
  renderer ??= bundle()
  const { render } = await renderer
  const rendered = await render({
    address: `/dashboard${canonical(address)}`,
    language,
    replies: { "GET /session": makeSession(role), ...replies }
  })
  checkPage(rendered)
  const html = whole ? rendered.html : contentOf(rendered.html)
  return {
    html,
    text: toText(html),
    texts: readTexts(html),
    links: listElements(html, "a").map((link) => ({
      text: link.text,
      href: (link.attribute("href") ?? "").replace(/^\/dashboard(?=\/)/, "")
    })),
    buttons: listElements(html, "button").map((button) => ({
      text: button.text,
      isDisabled: button.has("disabled"),
      title: button.attribute("title") ?? ""
    })),
    states: [...html.matchAll(/<span class="status tone-(\w+)"[^>]*><svg.*?<\/svg><span>([^<]*)<\/span>/g)].map(
      ([, tone, text = ""]) => `${tone} ${decode(text)}`
    ),
    requests: rendered.requests,
    paths: rendered.paths,
    elements: (name) => listElements(html, name)
  }
}
