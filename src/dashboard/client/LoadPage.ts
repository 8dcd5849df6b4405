/** Loads the code of pages. While the service cannot be reached it waits, so that the browser does not show an error page of its own. */
import { prefix } from "./Call.ts"

const retryMillis = 2000

const isReachable = (): Promise<boolean> =>
  fetch(`${prefix}/healthz`, { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false
  )

export const loadPage = async <Module>(load: () => Promise<Module>): Promise<Module> => {
  try {
    return await load()
  } catch {
    while (!(await isReachable())) await new Promise((resolve) => setTimeout(resolve, retryMillis))
    // If it fails now, a newer release has other files, and the router loads the whole page again.
    return load()
  }
}
