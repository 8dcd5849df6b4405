import { expect, it } from "vitest"
import { listPorts } from "../../src/ingress/OpenPorts.ts"
import { parseRoute } from "../../src/ingress/Routes.ts"

const paths = [
  "/webhooks/github",
  "/triggers/manual",
  "/dashboard",
  "/api/admin/runs",
  "/metrics",
  "/healthz",
  "/readyz"
]

it.each<{
  readonly name: string
  readonly settings: Parameters<typeof listPorts>[0]
  readonly served: Readonly<Record<number, ReadonlyArray<string>>>
}>([
  { name: "one port serves everything", settings: {}, served: { 8080: paths } },
  {
    name: "a port of the administration takes it from the main one",
    settings: { admin_port: 8081 },
    served: {
      8080: ["/webhooks/github", "/triggers/manual", "/metrics", "/healthz", "/readyz"],
      8081: ["/dashboard", "/api/admin/runs", "/healthz", "/readyz"]
    }
  },
  {
    name: "a port of the metrics takes them from the main one",
    settings: { metrics_port: 9090 },
    served: {
      8080: ["/webhooks/github", "/triggers/manual", "/dashboard", "/api/admin/runs", "/healthz", "/readyz"],
      9090: ["/metrics", "/healthz", "/readyz"]
    }
  },
  {
    name: "both may share a port",
    settings: { admin_port: 8081, metrics_port: 8081 },
    served: {
      8080: ["/webhooks/github", "/triggers/manual", "/healthz", "/readyz"],
      8081: ["/dashboard", "/api/admin/runs", "/metrics", "/healthz", "/readyz"]
    }
  },
  {
    name: "the number of the main port changes nothing",
    settings: { admin_port: 8080, metrics_port: 8080 },
    served: { 8080: paths }
  }
])("$name", ({ settings, served }) => {
  const ports = listPorts(settings, 8080)
  const found = ports.map(({ port, serves }): [number, ReadonlyArray<string>] => [
    port,
    paths.filter((path) => {
      const route = parseRoute("", path)
      return route !== undefined && serves(route)
    })
  ])
  expect(Object.fromEntries(found)).toEqual(served)
})
