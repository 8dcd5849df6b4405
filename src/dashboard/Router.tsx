/**
 * The pages and their addresses. The code of a page is loaded when it is opened first, or after the first page. Filters of lists are plain texts
 * in the query.
 */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link } from "@tanstack/react-router"
import { prefix } from "./client/Call.ts"
import { loadPage } from "./client/LoadPage.ts"
import { Shell } from "./layout/Shell.tsx"
import { Failure, Loading, Empty } from "./parts/Panel.tsx"
import { t } from "./text/T.ts"

/** An address without a page. */
const NotFound = () => (
  <div className="page">
    <h1>{t("notfound.title")}</h1>
    <Empty title={t("notfound.help")}>
      <Link to="/">{t("page.overview")}</Link>
    </Empty>
  </div>
)

type Search = Readonly<Record<string, string>>

/** Keeps the named parameters. */
const only =
  <const Name extends string>(...names: ReadonlyArray<Name>) =>
  (search: Readonly<Record<string, unknown>>): { readonly [K in Name]?: string } => {
    const kept: { [K in Name]?: string } = {}
    for (const name of names) {
      const value = search[name]
      if (typeof value === "string" && value !== "") kept[name] = value
    }
    return kept
  }

const required =
  <const Name extends string>(...names: ReadonlyArray<Name>) =>
  (search: Readonly<Record<string, unknown>>): { readonly [K in Name]: string } => {
    const kept: Record<string, string> = {}
    for (const name of names) kept[name] = typeof search[name] === "string" ? search[name] : ""
    // Every name was just set.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return kept as { readonly [K in Name]: string }
  }

const page: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(() => loadPage(load), name)

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })
const getParentRoute = () => root

const routes = [
  createRoute({
    getParentRoute,
    path: "/",
    component: page(() => import("./pages/Overview.tsx"), "Overview")
  }),
  createRoute({
    getParentRoute,
    path: "/changes",
    validateSearch: only("workspace", "q", "repo", "number", "status", "trigger", "since", "until", "sort"),
    component: page(() => import("./pages/Changes.tsx"), "Changes")
  }),
  createRoute({
    getParentRoute,
    path: "/change",
    validateSearch: required("repo", "number"),
    component: page(() => import("./pages/Change.tsx"), "Change")
  }),
  createRoute({
    getParentRoute,
    path: "/deliveries",
    validateSearch: only(
      "workspace",
      "q",
      "decision",
      "reason",
      "outcome",
      "trigger",
      "repo",
      "number",
      "since",
      "until",
      "sort"
    ),
    component: page(() => import("./pages/Deliveries.tsx"), "Deliveries")
  }),
  createRoute({
    getParentRoute,
    path: "/deliveries/$id",
    component: page(() => import("./pages/Delivery.tsx"), "Delivery")
  }),
  createRoute({
    getParentRoute,
    path: "/runs",
    validateSearch: only("workspace", "q", "status", "repo", "number", "trigger", "target", "since", "until", "sort"),
    component: page(() => import("./pages/Runs.tsx"), "Runs")
  }),
  createRoute({
    getParentRoute,
    path: "/runs/$id",
    validateSearch: only("head"),
    component: page(() => import("./pages/Run.tsx"), "Run")
  }),
  createRoute({
    getParentRoute,
    path: "/runs/$id/compare",
    validateSearch: only("with"),
    component: page(() => import("./pages/CompareRuns.tsx"), "CompareRuns")
  }),
  createRoute({
    getParentRoute,
    path: "/queue",
    validateSearch: only("workspace", "q", "status", "since", "until", "tab", "selected", "batch", "sort"),
    component: page(() => import("./pages/Queue.tsx"), "Queue")
  }),
  createRoute({
    getParentRoute,
    path: "/projects",
    validateSearch: only("q", "sort", "deleted"),
    component: page(() => import("./pages/Projects.tsx"), "Projects")
  }),
  createRoute({
    getParentRoute,
    path: "/acceptance",
    validateSearch: required("workspace", "name"),
    component: page(() => import("./pages/Acceptance.tsx"), "Acceptance")
  }),
  createRoute({
    getParentRoute,
    path: "/statistics",
    validateSearch: only("window", "sort", "by", "groups", "team"),
    component: page(() => import("./pages/Statistics.tsx"), "Statistics")
  }),
  createRoute({
    getParentRoute,
    path: "/rules",
    validateSearch: only("q", "sort"),
    component: page(() => import("./pages/Rules.tsx"), "Rules")
  }),
  createRoute({
    getParentRoute,
    path: "/nodes",
    component: page(() => import("./pages/Nodes.tsx"), "Nodes")
  }),
  createRoute({
    getParentRoute,
    path: "/providers",
    component: page(() => import("./pages/Providers.tsx"), "Providers")
  }),
  createRoute({
    getParentRoute,
    path: "/setup",
    component: page(() => import("./pages/Setup.tsx"), "Setup")
  }),
  createRoute({
    getParentRoute,
    path: "/configuration",
    validateSearch: only("tab", "kind", "name", "new", "q"),
    component: page(() => import("./pages/Configuration.tsx"), "Configuration")
  }),
  createRoute({
    getParentRoute,
    path: "/configuration/revisions/$number",
    component: page(() => import("./pages/Revision.tsx"), "Revision")
  }),
  createRoute({
    getParentRoute,
    path: "/chat",
    validateSearch: only("connection", "workspace", "status", "notice", "notice_kind", "sort"),
    component: page(() => import("./pages/Chat.tsx"), "Chat")
  }),
  createRoute({
    getParentRoute,
    path: "/tokens",
    component: page(() => import("./pages/Tokens.tsx"), "Tokens")
  }),
  createRoute({
    getParentRoute,
    path: "/audit",
    validateSearch: only("actor", "action", "since", "sort"),
    component: page(() => import("./pages/Audit.tsx"), "Audit")
  })
] as const

/** Loads the code of all pages, so that each can be opened while the service is unavailable. */
export const preloadPages = async (): Promise<void> => {
  for (const { options } of routes) await options.component?.preload?.()
}

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: `${prefix}/dashboard`,
  defaultPreload: "intent",
  defaultPendingComponent: () => <Loading rows={8} />,
  defaultErrorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
  // Values stay texts: `number=5` is not a number that is written back with quotes.
  parseSearch: (text): Search => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const pairs = Object.entries(search).filter(([, value]) => value !== undefined && value !== "")
    const text = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString()
    return text === "" ? "" : `?${text}`
  }
})

declare module "@tanstack/react-router" {
  interface Register {
    readonly router: typeof router
  }
}
