"""The entry of the OpenDP Deployments Registry as a JSON Schema: its fields, choices, and no others."""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string", "minLength": 1}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1}


def fields(required: str = "", **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def texts(names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), TEXT)


SECTORS = ["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"]
VARIANTS = ["Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"]

SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    **fields(
        "url_slug tier status deployment",
        url_slug={"type": "string", "pattern": "^[a-z0-9-]+$"},
        tier={"enum": [1, 2, 3]},
        status=TEXT,
        deployment=fields(
            "basic",
            basic=fields(
                "name data_curators description intended_use data_product_region data_product_type publication_date",
                **texts(
                    "name description intended_use data_product_region data_product_type publication_date"
                ),
                data_curators=TEXTS,
                data_product_sector={"enum": SECTORS},
            ),
            dp_variant=fields(variant_name={"enum": VARIANTS}, **texts("data_domain unprotected_quantities")),
            privacy_loss=fields(
                **texts("privacy_unit privacy_unit_details privacy_parameters_details"),
                privacy_parameters=fields(
                    epsilon={"type": "number"}, delta={"type": "number"}, rho={"type": "number"}
                ),
            ),
            deployment_model=fields(
                release_type={"enum": ["One release", "Many releases"]},
                data_source_type={"enum": ["Static", "Dynamic"]},
                access_type={"enum": ["Interactive", "Non-interactive"]},
                **texts("model_name model_name_details actors release_type_details"),
                **texts("data_source_type_details access_type_details"),
            ),
            accounting=fields(**texts("post_processing composition")),
            implementation=fields(
                **texts("preprocessing_and_hyperparameter_tuning mechanisms justification")
            ),
            administrative=fields("registry_authors", registry_authors=TEXTS, sources=TEXTS, notes=TEXT),
        ),
    ),
}
