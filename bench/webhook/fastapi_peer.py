"""A webhook as it is written with FastAPI: one endpoint, one check."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from bench.webhook.reviews import REGISTRY

app = FastAPI()


@app.post("/validate")
async def validate(request: Request) -> JSONResponse:
    """All images come from one registry."""
    review = await request.json()
    asked = review["request"]
    response: dict[str, Any] = {"uid": asked["uid"], "allowed": True}
    for container in asked["object"]["spec"]["template"]["spec"]["containers"]:
        if not container["image"].startswith(REGISTRY):
            response["allowed"] = False
            response["status"] = {"code": 403, "message": f"not from {REGISTRY}"}
    return JSONResponse(
        {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}
    )
