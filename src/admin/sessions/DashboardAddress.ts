/** The address of the dashboard: for other machines if `server.base_url` is set, otherwise on this machine. Pure. */
import type { Snapshot } from "../../config/Snapshot.ts"
import { publicUrl } from "../../domain/RunLink.ts"

type ServerFields = Pick<
  Snapshot["document"]["server"],
  "admin_port" | "base_url" | "hostname" | "path_prefix" | "port"
>

export const dashboardUrl = (server: ServerFields): string => {
  const host = server.hostname === "0.0.0.0" || server.hostname === "::" ? "127.0.0.1" : server.hostname
  const local = `http://${host.includes(":") ? `[${host}]` : host}:${server.admin_port ?? server.port}`
  const { path_prefix: prefix } = server
  return publicUrl(server, "/dashboard") ?? publicUrl({ base_url: local, path_prefix: prefix }, "/dashboard") ?? local
}
