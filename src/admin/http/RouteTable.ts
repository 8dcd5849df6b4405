/** Lists the methods of a path according to the definition of the administration. */
import { HttpApi } from "effect/http-api"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"

interface Row {
  readonly method: string
  readonly parts: ReadonlyArray<string>
}

const listRows = (): ReadonlyArray<Row> => {
  const rows: Array<Row> = []
  HttpApi.reflect(AdminHttpApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => rows.push({ method: endpoint.method, parts: endpoint.path.split("/") })
  })
  return rows
}

const rows = listRows()

const matches = (parts: ReadonlyArray<string>, path: ReadonlyArray<string>): boolean =>
  parts.length === path.length &&
  parts.every((part, at) => (part.startsWith(":") ? path[at] !== "" : part === path[at]))

/** Returns the methods of a path, none if the path does not exist. */
export const findMethods = (path: string): ReadonlyArray<string> => {
  const parts = path.split("/")
  const methods = rows.filter((row) => matches(row.parts, parts)).map(({ method }) => method)
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))]
}
