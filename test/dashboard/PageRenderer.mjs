/**
 * Renders pages of the dashboard to HTML in Node. It is bundled together with the pages (RenderPage.ts), which are written for browsers: what they
 * need of one while their modules are loaded and while they are rendered exists only for that time.
 */
import { hashKey, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { createMemoryHistory, createRouter, RouterProvider } from "@tanstack/react-router"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"

const ignore = () => {}
const storage = { getItem: () => null, setItem: ignore, removeItem: ignore }
const events = { addEventListener: ignore, removeEventListener: ignore }
const browser = {
  document: { ...events, documentElement: { style: {}, dataset: {} }, querySelector: () => null },
  localStorage: storage,
  sessionStorage: storage,
  location: { origin: "https://aicr.example", pathname: "/dashboard", hash: "", search: "" },
  history: { replaceState: ignore },
  matchMedia: () => ({ ...events, matches: false }),
  BroadcastChannel: class {
    addEventListener() {}
    postMessage() {}
  }
}

/** Runs a function while Node has the globals of a browser that the pages use. */
const inBrowser = async (run) => {
  const names = Object.keys(browser)
  const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name))
  for (const name of names)
    Object.defineProperty(globalThis, name, { value: browser[name], configurable: true, writable: true })
  try {
    return await run()
  } finally {
    names.forEach((name, index) => {
      if (before[index] === undefined) delete globalThis[name]
      else Object.defineProperty(globalThis, name, before[index])
    })
  }
}

const load = async () => {
  const { router } = await import("../../src/dashboard/Router.tsx")
  const { Problem } = await import("../../src/dashboard/client/Problem.ts")
  const { openSession } = await import("../../src/dashboard/client/Session.ts")
  const { changeLanguage } = await import("../../src/dashboard/text/T.ts")
  openSession({ token: "secret-token", username: "ops" })
  return { router, Problem, changeLanguage }
}

let loaded
/** Number of renders before this one, because the language is that of the process. */
let turn = Promise.resolve()

const settled = {
  dataUpdateCount: 0,
  errorUpdateCount: 0,
  fetchFailureCount: 0,
  fetchFailureReason: null,
  fetchMeta: null
}

/** Gives each query that a page makes the reply of its endpoint, and keeps what the page requests. */
class Replies extends QueryCache {
  requests = []

  constructor(replies, Problem) {
    super()
    this.replies = replies
    this.Problem = Problem
  }

  build(client, options, state) {
    const [endpoint, input, pages] = options.queryKey
    if (this.get(hashKey(options.queryKey)) !== undefined) return super.build(client, options, state)
    if (options.enabled !== false) this.requests.push({ endpoint, ...input })
    const given = this.replies[endpoint]
    const reply = typeof given === "function" ? given(input) : given
    if (reply === undefined) return super.build(client, options, state)
    const common = {
      ...settled,
      errorUpdatedAt: 0,
      dataUpdatedAt: Date.now(),
      isInvalidated: false,
      fetchStatus: "idle"
    }
    if (reply.problem !== undefined) {
      const error = new this.Problem(reply.problem.status, reply.problem.body)
      return super.build(client, options, { ...common, data: undefined, error, errorUpdateCount: 1, status: "error" })
    }
    const data = pages === "pages" ? { pages: [reply], pageParams: [""] } : reply
    return super.build(client, options, { ...common, data, error: null, status: "success" })
  }
}

/** React and the router report mistakes of a page, such as a list without keys, on the console. */
const withConsole = async (run) => {
  const { error, warn } = console
  const errors = []
  const keep = (...parts) => errors.push(parts.map(String).join(" "))
  Object.assign(console, { error: keep, warn: keep })
  try {
    return { ...(await run()), errors }
  } finally {
    Object.assign(console, { error, warn })
  }
}

const renderNow = async ({ address, language, replies }) => {
  loaded ??= await load()
  const { changeLanguage, Problem, router: original } = loaded
  await changeLanguage(language)
  const cache = new Replies(replies, Problem)
  const client = new QueryClient({
    queryCache: cache,
    defaultOptions: { queries: { retryOnMount: false, staleTime: Infinity, gcTime: Infinity } }
  })
  const router = createRouter({
    ...original.options,
    history: createMemoryHistory({ initialEntries: [address] })
  })
  await router.load()
  const html = renderToStaticMarkup(
    createElement(QueryClientProvider, { client }, createElement(RouterProvider, { router }))
  )
  client.clear()
  const isRoute = (href) => {
    const path = new URL(href, "http://x").pathname.replace(/^\/dashboard(?=\/|$)/, "")
    const [, params, route] = router.getMatchedRoutes(path === "" ? "/" : path)
    return route !== undefined && params["**"] === undefined
  }
  return { html, requests: cache.requests, isRoute, paths: Object.keys(router.routesByPath) }
}

export const render = (page) => {
  const result = turn.then(() => withConsole(() => inBrowser(() => renderNow(page))))
  turn = result.then(ignore, ignore)
  return result
}
