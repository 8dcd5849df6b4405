/** Entry of the dashboard in the browser. */
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode, useSyncExternalStore } from "react"
import { createRoot } from "react-dom/client"
import { call } from "./client/Call.ts"
import { queryClient } from "./client/Queries.ts"
import { onSessionChange, sessionState, startSession } from "./client/Session.ts"
import { endSignIn } from "./client/SignIn.ts"
import { Login } from "./layout/Login.tsx"
import { applyTheme } from "./layout/Theme.ts"
import { Notices } from "./parts/Notices.tsx"
import { preloadPages, router } from "./Router.tsx"
import { currentLanguage, loadLanguage, onLanguageChange } from "./text/T.ts"
import "./style/Base.css"
import "./style/Layout.css"
import "./style/Parts.css"
import "./style/Pages.css"

/** The pages stay while an expired session is renewed: what the user has entered must not be lost. */
const App = () => {
  const session = useSyncExternalStore(onSessionChange, sessionState)
  const language = useSyncExternalStore(onLanguageChange, currentLanguage)
  if (session._tag === "Starting") return null
  if (session._tag === "SignedOut") return <Login key={language} />
  return (
    <>
      <RouterProvider router={router} key={language} />
      {session._tag === "Expired" ? <Login expired={session.session.username} /> : null}
      <Notices />
    </>
  )
}

applyTheme()
await loadLanguage(currentLanguage())
void startSession((link) => call("POST /login/redeem", { payload: { link } }), endSignIn())
const root = document.getElementById("root")
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </StrictMode>
  )
// Not before the first page has what it shows.
setTimeout(() => void preloadPages(), 3000)
