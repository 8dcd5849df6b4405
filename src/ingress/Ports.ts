/** Decides which routes each port serves: one port for everything, or further ports for the administration and for metrics. Pure. */
import type { ServerConfig } from "../config/schema/Server.ts"
import type { Route } from "./Routes.ts"

type Part = "deliveries" | "admin" | "metrics"

const partOf = {
  Webhook: "deliveries",
  Trigger: "deliveries",
  ChatCallback: "deliveries",
  Dashboard: "admin",
  ApiDescription: "admin",
  Admin: "admin",
  Metrics: "metrics",
  // Probes may come to any port.
  Health: undefined,
  Ready: undefined
} as const satisfies Record<Route["_tag"], Part | undefined>

export interface Port {
  readonly port: number
  readonly serves: (route: Route) => boolean
}

/** Returns the main port first. Parts with the same port share it. */
export const listPorts = (
  settings: Pick<ServerConfig, "admin_port" | "metrics_port">,
  main: number
): readonly [Port, ...ReadonlyArray<Port>] => {
  const portOf: Readonly<Record<Part, number>> = {
    deliveries: main,
    admin: settings.admin_port ?? main,
    metrics: settings.metrics_port ?? main
  }
  const toPort = (port: number): Port => ({
    port,
    serves: (route) => {
      const part = partOf[route._tag]
      return part === undefined || portOf[part] === port
    }
  })
  const others = [...new Set([portOf.admin, portOf.metrics])].filter((port) => port !== main)
  return [toPort(main), ...others.map(toPort)]
}
