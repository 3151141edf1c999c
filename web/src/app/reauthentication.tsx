/** Opens the dialog that asks for the password before a dangerous call, which is then repeated. */
import { lazy, Suspense, useEffect, useState } from "react";
import { onReauthenticationRequired, type Ways } from "../shared/api/client";
import { later } from "../shared/ui/later";

const Dialog = lazy(later(() => import("../features/auth/reauthentication-dialog")));

interface Request {
  ways: Ways;
  answer: (reauthenticated: boolean) => void;
}

export function Reauthentication() {
  const [request, setRequest] = useState<Request | null>(null);
  useEffect(() => {
    onReauthenticationRequired((ways) => new Promise((answer) => setRequest({ ways, answer })));
  }, []);
  const close = (reauthenticated: boolean) => {
    setRequest(null);
    request?.answer(reauthenticated);
  };
  return <Suspense>{request && <Dialog ways={request.ways} close={close} />}</Suspense>;
}
